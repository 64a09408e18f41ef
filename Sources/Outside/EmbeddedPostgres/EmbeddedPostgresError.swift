internal import Glibc

/// Why there is no embedded database. Every text says what happened and what to do.
package enum EmbeddedPostgresError: Error, Equatable, Sendable {
    /// No usable server is installed; `searched` lists the places that were searched.
    case serverNotInstalled(searched: [String])
    /// `BELLWETHER_POSTGRES_BIN` names a directory without a usable server.
    case unusableBinaries(directory: String, reason: String)
    /// A major version that is not installed wrote the data.
    case versionMismatch(directory: String, version: String, installed: [String])
    /// The programs of this major version are needed and are not installed.
    case programsNotInstalled(version: Int, installed: [String])
    /// A backup is being restored into the directory, or was when its process was killed.
    case unfinishedRestore(directory: String)
    /// The backup or the archived log could not be restored.
    case restoreFailed(reason: String)
    /// The database could not be moved to another major version; it is as it was.
    case upgradeFailed(reason: String)
    /// The path can never hold a database.
    case unusableDirectory(path: String, reason: String)
    /// The database belongs to a user that this process cannot switch to.
    case foreignOwner(path: String, owner: String)
    /// The operating-system user of the server cannot enter this directory.
    case unreachable(path: String, user: String)
    /// PostgreSQL needs an operating-system user, and no suitable one exists.
    case noServerUser(reason: String)
    /// `initdb` failed.
    case initializationFailed(output: String)
    /// The server did not start; `output` holds the end of its log.
    case startFailed(directory: String, output: String)
    /// The server did not stop.
    case stopFailed(directory: String, output: String)
    /// Another process was busy for longer than the deadline allows.
    case timedOut(waitingFor: String)
    /// Other processes use the database that should be stopped.
    case inUse(directory: String, processes: [Int32])
    /// A server that this process cannot see answers on the socket, so its state is unknown.
    case hiddenServer(directory: String)
    /// The operating system refused a call.
    case system(call: String, path: String, code: Int32)
}

extension EmbeddedPostgresError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .serverNotInstalled(let searched):
            "no PostgreSQL server of version \(PostgresInstallation.oldestVersion) or newer is installed (looked in "
                + "\(searched.joined(separator: ", "))). Install one (on Debian: apt install postgresql), name the "
                + "directory of its initdb in BELLWETHER_POSTGRES_BIN, or give the URL of a database elsewhere in "
                + "BELLWETHER_DATABASE_URL."
        case .unusableBinaries(let directory, let reason):
            "the PostgreSQL binaries in \(directory) (BELLWETHER_POSTGRES_BIN) cannot be used: \(reason). "
                + "Name a directory with initdb, pg_ctl and postgres of version \(PostgresInstallation.oldestVersion) "
                + "or newer."
        case .versionMismatch(let directory, let version, let installed):
            "the data in \(directory) was written by PostgreSQL \(version), which is not installed (found: "
                + "\(installed.isEmpty ? "none" : installed.joined(separator: ", "))). Install version \(version). "
                + "With both versions installed, bellwether database upgrade moves the data."
        case .programsNotInstalled(let version, let installed):
            "this needs the programs of PostgreSQL \(version), which are not installed (found: "
                + "\(installed.isEmpty ? "none" : installed.joined(separator: ", "))). Install them (on Debian: apt "
                + "install postgresql-\(version)), or name their directory in BELLWETHER_POSTGRES_BIN."
        case .unfinishedRestore(let directory):
            "a backup is being restored into \(directory). "
                + "If that was interrupted, remove the directory and restore again."
        case .restoreFailed(let reason), .upgradeFailed(let reason):
            reason
        case .unusableDirectory(let path, let reason):
            "\(path) cannot be the data directory: \(reason)"
        case .foreignOwner(let path, let owner):
            "\(path) belongs to user \(owner). Run this as \(owner), or choose another data directory."
        case .unreachable(let path, let user):
            "PostgreSQL does not run as root, so it runs as user \(user), and \(user) cannot enter \(path). "
                + "Choose a data directory outside of \(path) (for example under /var/lib), "
                + "or let \(user) through it: chmod o+x '\(path)'."
        case .noServerUser(let reason):
            reason
        case .initializationFailed(let output):
            "the database could not be created. initdb says: \(output.indentedLines)"
        case .startFailed(let directory, let output):
            "the database server for \(directory) did not start. Its log ends with: \(output.indentedLines)"
        case .stopFailed(let directory, let output):
            "the database server for \(directory) did not stop. pg_ctl says: \(output.indentedLines)"
        case .timedOut(let what):
            "gave up waiting for \(what). Try again in a moment."
        case .inUse(let directory, let processes):
            "the database in \(directory) is in use"
                + (processes.isEmpty
                    ? " by another process"
                    : " by process \(processes.map(String.init).joined(separator: ", "))")
                + ". Stop that first, or force the database to stop."
        case .hiddenServer(let directory):
            "a server already answers for \(directory), but its process cannot be seen from here (does it run in "
                + "another container?). Two servers on the same files would destroy them: stop the other one first."
        case .system(let call, let path, let code):
            "\(call) of \(path) failed: \(unsafe String(cString: strerror(code)))."
        }
    }
}

extension String {
    /// The output of a program, indented to separate it from our own words.
    var indentedLines: String {
        let lines = split(separator: "\n").map { "\n    \($0)" }
        return lines.isEmpty ? "(nothing)" : lines.joined()
    }
}
