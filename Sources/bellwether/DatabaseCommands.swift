internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import Health
internal import ServiceRuntime

/// Prints a URL for other programs, and leaves an embedded database running for them.
struct DatabaseURLCommand: Command {
    static let words = ["database-url"]
    static let summary = "Print a libpq URL and leave the embedded database running"
    static let options = [
        Option("role", "ROLE", choices: Role.allCases.map(\.rawValue), help: "owner or analyst (default owner)")
    ]

    private enum Role: String, CaseIterable { case owner, analyst }

    private let arguments: Arguments
    private let role: Role

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        role = try arguments.choice("role", default: .owner)
    }

    func run() throws -> ExitCode {
        let access = try DatabaseAccess(arguments, log: .standardError(least: .warning), fit: .any)
        defer { access.release() }
        try access.cluster?.keepRunning()
        StandardStream.output.write((role == .owner ? access.url : access.url(for: .analyst)) + "\n")
        return .done
    }
}

/// Stops an embedded database that was left running.
struct DatabaseStopCommand: Command {
    static let words = ["database", "stop"]
    static let summary = "Stop the embedded database"
    static let options = [Option("force", help: "Stop it even while other processes use it")]

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        guard try DatabaseAccess.givenURL(arguments) == nil else {
            throw UsageError("database stop works on the embedded database only, not on --database")
        }
        do {
            let ran = try EmbeddedCluster.stop(
                dataDirectory: DatabaseAccess.dataDirectory(arguments), force: arguments.has("force"),
                log: .standardError(least: .warning))
            StandardStream.error.write(ran ? "The database is stopped.\n" : "The database was not running.\n")
            return .done
        } catch EmbeddedPostgresError.inUse(let directory, let processes) {
            throw Failure(
                "\(EmbeddedPostgresError.inUse(directory: directory, processes: processes))".replacing(
                    "force the database to stop", with: "use --force"))
        }
    }
}
