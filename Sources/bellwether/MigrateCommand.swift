internal import EventLog
internal import Migrations
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Brings the database to this version.
struct MigrateCommand: Command {
    static let words = ["migrate"]
    static let summary = "Bring the database to this version; safe to repeat"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        try DatabaseAccess.withConnection(arguments, log: .standardError(), fit: .seenLater) { connection in
            let applied = try Migrations.runner.run(on: &connection, log: .standardError())
            StandardStream.error.write(
                applied.isEmpty ? "The database is at this version.\n" : "Applied \(applied.count) migrations.\n")
            let due = try Renewal.due(on: &connection)
            if !due.isEmpty {
                StandardStream.error.write(
                    "Older rules have counted \(due.joined(separator: ", ")): these stand still until they are made anew. "
                        + "serve does so by itself where it is logged in as the owner; else run bellwether rebuild.\n")
            }
            return .done
        }
    }
}
