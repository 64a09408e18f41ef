package import ServiceRuntime

/// The server programs of one version on this machine.
package struct PostgresInstallation: Hashable, Sendable {
    /// The directory of `postgres`, `initdb` and `pg_ctl`; usually it also contains the client programs.
    package let binDirectory: String
    /// The major version.
    package let version: Int

    /// The oldest supported major version.
    package static let oldestVersion = 15

    /// The full path of one of the programs.
    package func program(_ name: String) -> String { binDirectory + "/" + name }

    /// All usable installations, newest first. If `BELLWETHER_POSTGRES_BIN` is set, only that directory is searched.
    package static func all(deadline: Deadline) throws(EmbeddedPostgresError) -> [PostgresInstallation] {
        if let directory = Environment.value("BELLWETHER_POSTGRES_BIN") {
            switch try inspect(directory, deadline: deadline) {
            case .usable(let installation): return [installation]
            case .unusable(let reason): throw .unusableBinaries(directory: directory, reason: reason)
            }
        }
        let path = Environment.value("PATH") ?? ""
        let last = known.withLock { known in known[path] }
        if let last, last.allSatisfy({ FilePath.isExecutable($0.program("postgres")) }) { return last }
        var found: Set<PostgresInstallation> = []
        for directory in try candidates(of: path, deadline: deadline) {
            if case .usable(let installation) = try inspect(directory, deadline: deadline) {
                found.insert(installation)
            }
        }
        let all = found.sorted { ($0.version, $1.binDirectory) > ($1.version, $0.binDirectory) }
        known.withLock { $0 = all.isEmpty ? [:] : [path: all] }
        return all
    }

    /// What was found last, and the `PATH` then. To find them we run several programs, and a start asks three times.
    private static let known = Lock<[String: [PostgresInstallation]]>([:])

    /// An installation of this major version.
    package static func of(version: Int, deadline: Deadline) throws(EmbeddedPostgresError) -> PostgresInstallation {
        let installations = try all(deadline: deadline)
        guard let match = installations.first(where: { $0.version == version }) else {
            throw .programsNotInstalled(version: version, installed: installations.map { String($0.version) })
        }
        return match
    }

    /// The newest installation. For an existing database, it must have the version that wrote the files.
    static func matching(
        dataDirectory: String, deadline: Deadline
    ) throws(EmbeddedPostgresError) -> PostgresInstallation {
        let installations = try all(deadline: deadline)
        guard let text = TextFile.read(dataDirectory + "/PG_VERSION") else {
            guard let newest = installations.first else {
                throw .serverNotInstalled(searched: packaged.map { $0 + "/*/bin" } + ["pg_config --bindir", "PATH"])
            }
            return newest
        }
        let version = text.filter { !$0.isWhitespace }
        guard let match = installations.first(where: { String($0.version) == version }) else {
            throw .versionMismatch(
                directory: dataDirectory, version: version, installed: installations.map { String($0.version) })
        }
        return match
    }

    /// Where packages install one directory per version: Debian's place. `pg_config` and `PATH` find the others.
    private static let packaged = ["/usr/lib/postgresql"]

    private static func candidates(of path: String, deadline: Deadline) throws(EmbeddedPostgresError) -> [String] {
        var directories = packaged.flatMap { parent in
            (FilePath.names(in: parent) ?? []).map { "\(parent)/\($0)/bin" }
        }
        let path = path.split(separator: ":").map(String.init)
        for directory in path where FilePath.isExecutable(directory + "/pg_config") {
            let outcome = try Subprocess.run([directory + "/pg_config", "--bindir"], deadline: deadline)
            if outcome.succeeded { directories.append(String(outcome.output.prefix { $0 != "\n" })) }
        }
        directories += path
        var seen: Set<String> = []
        return directories.compactMap { directory in
            guard FilePath.isExecutable(directory + "/initdb"), let (real, missing) = try? FilePath.resolve(directory),
                missing.isEmpty
            else { return nil }
            return seen.insert(real).inserted ? real : nil
        }
    }

    private enum Inspection {
        case usable(PostgresInstallation)
        case unusable(String)
    }

    private static func inspect(_ directory: String, deadline: Deadline) throws(EmbeddedPostgresError) -> Inspection {
        for name in ["initdb", "pg_ctl", "postgres"] where !FilePath.isExecutable("\(directory)/\(name)") {
            return .unusable("there is no \(name)")
        }
        let outcome = try Subprocess.run([directory + "/postgres", "--version"], deadline: deadline)
        // "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "... 19devel"
        let words = outcome.output.split(separator: " ")
        guard outcome.succeeded, words.count >= 3, let version = Int(words[2].prefix { $0.isNumber }) else {
            return .unusable("postgres --version says: \(outcome.output)")
        }
        guard version >= oldestVersion else { return .unusable("it is version \(version)") }
        return .usable(PostgresInstallation(binDirectory: directory, version: version))
    }
}
