internal import Console
internal import EventLog
internal import Health
internal import Migrations
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Telemetry

/// Migrates the database to this version.
struct MigrateCommand: DatabaseCommand {
    static let words = ["migrate"]
    static let summary = "Bring the database to this version; safe to repeat"
    static let options: [Option<Self>] = [
        Option(
            "shards", "N", \.shards, .oneOf(Shard.counts.map { "\($0)" }) { Int16($0) },
            help:
                "Shards of a new database: \(shardCounts) (default 16). "
                + "More allow more machines, fewer are less work to verify; the number never changes"
        )
    ]

    private static var shardCounts: String {
        Shard.counts.dropLast().map { "\($0)" }.joined(separator: ", ") + " or \(Shard.most)"
    }

    var database = DatabaseChoice()
    private var shards: Int16?

    func run() throws -> ExitCode {
        try DatabaseAccess.withConnection(database, log: .standardError(), fit: .seenLater, shards: shards) {
            connection in
            let applied = try Migrations.run(shards: shards, on: &connection, log: .standardError())
            let present = try Shard.count(on: &connection)
            guard shards == nil || shards == present else {
                throw Failure(
                    "this database has \(present) shards, and the number never changes: "
                        + "for another number, create a new database"
                )
            }
            StandardStream.error.write(
                applied.isEmpty ? "The database is at this version.\n" : "Applied \(applied.count) migrations.\n")
            let due = try AutomaticRebuild.dueByRules(on: &connection)
            if !due.isEmpty {
                StandardStream.error.write(
                    "The rules of \(due.joined(separator: ", ")) have changed. "
                        + "These tables stand still until they are rebuilt: "
                        + "serve rebuilds them if it is logged in as the owner; otherwise run bellwether rebuild.\n")
            }
            return .done
        }
    }
}
