internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import Health
internal import Postgres
internal import ServiceRuntime

/// Prints a URL for other programs, and leaves an embedded database running for them.
struct DatabaseURLCommand: DatabaseCommand {
    static let words = ["database-url"]
    static let summary = "Print a libpq URL and leave the embedded database running"
    static let options: [Option<Self>] = [
        Option("role", "ROLE", \.role, .word, help: "owner or analyst (default)")
    ]

    private enum Role: String, CaseIterable { case owner, analyst }

    var database = DatabaseChoice()
    private var role = Role.owner

    func run() throws -> ExitCode {
        let access = try DatabaseAccess(database, log: .standardError(least: .warning), fit: .any)
        defer { access.release() }
        try access.server?.keepRunning()
        StandardStream.output.write((role == .owner ? access.url : access.url(for: .analyst)) + "\n")
        return .done
    }
}

/// Stops an embedded database that was left running.
struct DatabaseStopCommand: DatabaseCommand {
    static let words = ["database", "stop"]
    static let summary = "Stop the embedded database"
    static let options: [Option<Self>] = [
        Option("force", \.isForced, help: "Stop it even while other processes use it")
    ]

    var database = DatabaseChoice()
    private var isForced = false

    func check() throws(UsageError) { try database.requireEmbedded("database stop") }

    func run() throws -> ExitCode {
        do {
            let ran = try EmbeddedServer.stop(
                dataDirectory: database.directory, force: isForced, log: .standardError(least: .warning))
            StandardStream.error.write(ran ? "The database is stopped.\n" : "The database was not running.\n")
            return .done
        } catch EmbeddedPostgresError.inUse(let directory, let processes) {
            throw Failure(
                "\(EmbeddedPostgresError.inUse(directory: directory, processes: processes))".replacing(
                    "force the database to stop", with: "use --force"))
        }
    }
}

/// Moves an embedded database to a newer PostgreSQL.
struct DatabaseUpgradeCommand: DatabaseCommand {
    static let words = ["database", "upgrade"]
    static let summary = "Move the embedded database to the newest PostgreSQL that is installed"

    var database = DatabaseChoice()

    func check() throws(UsageError) { try database.requireEmbedded("database upgrade") }

    func run() throws -> ExitCode {
        let (data, log) = (database.directory, Log.standardError(least: .warning))
        guard let (old, new) = try EmbeddedServer.pendingUpgrade(dataDirectory: data) else {
            StandardStream.error.write("There is no newer PostgreSQL than the database has.\n")
            return .done
        }
        let kept: String
        do {
            // All other sessions must have ended, also those that were given its URL.
            _ = try EmbeddedServer.stop(dataDirectory: data, log: log)
            try prepare(data, log)
            kept = try EmbeddedServer.upgrade(dataDirectory: data, options: DatabaseAccess.serverOptions, log: log)
        } catch {
            switch error {
            // The database is not away: what was asked for cannot be done.
            case EmbeddedPostgresError.upgradeFailed, EmbeddedPostgresError.inUse: throw Failure("\(error)")
            default: throw error
            }
        }
        let access = try DatabaseAccess(embeddedIn: data, log: log)
        defer { access.release() }
        // An upgrade may lose the statistics, and nothing is quick without them.
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "upgrade", log: log, statementSeconds: 0)
        try connection.execute(script: "SET client_min_messages = error; ANALYZE")
        StandardStream.error.write(
            "The database was moved from PostgreSQL \(old) to \(new). "
                + "The old files are in \(String(printable: kept)): remove them when all is well.\n"
        )
        return .done
    }

    private func prepare(_ data: String, _ log: Log) throws {
        let server = try EmbeddedServer.use(dataDirectory: data, options: DatabaseAccess.serverOptions, log: log)
        defer { server.release() }
        var administrator = try Connection(
            url: server.connectionURL(database: DatabaseAccess.embeddedDatabase), log: log)
        administrator.deadline = .after(seconds: 60)
        try Hardening.openFunctions(on: &administrator)
    }
}

extension DatabaseChoice {
    fileprivate func requireEmbedded(_ command: String) throws(UsageError) {
        guard url == nil else {
            throw UsageError("\(command) works on the embedded database only, not on --database")
        }
    }
}
