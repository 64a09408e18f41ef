internal import EventLog
internal import Glibc
internal import Postgres
internal import ServiceRuntime

/// Opens psql as the analyst.
struct PsqlCommand: Command {
    static let words = ["psql"]
    static let summary = "Open psql as the analyst; words after -- go to psql"
    static let operands = ["[PSQL-ARGUMENT…]"]

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let access = try DatabaseAccess(
            arguments, log: .standardError(least: .warning), fit: .anyVersion, interruptible: false)
        // Held while psql runs: it is what keeps an embedded database there.
        defer { access.release() }
        // Ctrl-C is psql's, for cancelling a query.
        signal(SIGINT, SIG_IGN)
        let status = try Child.run(
            ["psql"] + arguments.operands, environment: ConnectionString.environment(of: access.url(for: .analyst)))
        switch status {
        case 0: return .done
        // What psql says of a connection that could not be made, or broke.
        case 2: return .unavailable
        default: return .failed
        }
    }
}
