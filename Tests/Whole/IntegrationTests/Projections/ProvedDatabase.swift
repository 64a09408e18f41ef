import EventLog
import Postgres
import Projections
import Telemetry
import TestSupport
import Values

/// A log with a few deliveries of every sort, and projection tables that hold what a recount of it says.
struct ProvedDatabase {
    let database: TestDatabase
    let app: TestApp
    private let appender: Appender
    /// In three shards.
    private let installs = [Int16(1), 2, 3].compactMap { shard in
        (0..<1_000).lazy.map { UUID(high: $0, low: 7) }.first { Shard.of($0, among: TestDatabase.shards) == shard }
    }

    init(copies: Int = 3, isFilled: Bool = true) throws {
        database = try TestDatabase.make()
        app = try database.makeApp(timeZone: "Europe/Berlin")
        appender = try database.appender()
        for copy in 0..<copies { try append(copy: copy) }
        if isFilled { try fill() }
    }

    /// Appends one batch with a delivery of every sort, on an install that takes turns, so many days after the first.
    func append(copy: Int, days: Int64 = 0) throws {
        let install = installs[copy % installs.count]
        func events(_ name: String, _ interactions: [Interaction]) -> [Event] {
            interactions.enumerated().map { place, interaction in
                var event = Event.sample(
                    at: Event.sampleTime + days * 86_400_000_000 + Int64(copy * 1_000_000 + place * 2_000_000),
                    install: install,
                    category: "NEWS", interaction: interaction)
                event.notification.id = "\(name)-\(copy)"
                event.notification.campaign = "spring"
                if name == "tapped" { event.notification.sentAt = Event.sampleTime }
                return event
            }
        }
        let picture = Receipt(
            via: .serviceExtension, media: Media(kind: .image, outcome: .attached, network: .wifi))
        let all =
            events("opened", [.received(picture), .expanded, .opened(launch: .cold)])
            + events(
                "tapped", [.received(Receipt(via: .serviceExtension)), .actionTapped(ActionTap(actionID: "REPLY"))])
            + events(
                "story",
                [
                    .storyStarted(StoryStart(pageCount: 3)), .pageShown(PageShown(pageIndex: 0)),
                    .pageShown(PageShown(pageIndex: 1)),
                ])
            + events("silent", [.received(Receipt(via: .background, fetchResult: .newData))])
        var change = Event.sample(
            at: Event.sampleTime + days * 86_400_000_000 + Int64(copy * 1_000_000 + 20_000_000), install: install,
            interaction: .permissionChanged(to: .denied, from: .authorized))
        change.notification = Notification()
        var goal = Event.sample(
            at: Event.sampleTime + days * 86_400_000_000 + Int64(copy * 1_000_000 + 30_000_000), install: install,
            interaction: .goalReached(Goal("purchase", value: 9_990_000, currency: "EUR")))
        goal.notification = Notification()
        _ = try appender.append([app.submission(all + [change, goal])])
    }

    /// Lets each batch have been committed a second after its newest event, so that days bound the reading.
    func commitAsItOccurred() throws {
        try tamper(
            """
            BEGIN;
            SELECT log.open_gate();
            UPDATE log.batch SET committed_at = greatest_device_at + interval '1 s';
            COMMIT
            """)
    }

    /// Puts what a recount says into the tables of the live generation, as a fold up to the head would.
    func fill() throws {
        try database.lending(nil) { connection in
            for shard in try Verifier.shards(on: &connection) { try fill(shard, on: &connection) }
        }
    }

    private func fill(_ shard: Int16, on connection: inout Connection) throws {
        try connection.execute(script: "BEGIN")
        let head: Int64 = try connection.query("SELECT max(number) FROM log.batch")[0].get(0)
        try connection.query(
            "UPDATE projection.progress SET goal_apps = \([app.id]) WHERE shard = \(shard)")
        try RecountTables.make(shard: shard, position: head, on: &connection)
        for recount in Recounts.all {
            // Columns whose codes are bits of one number, each with its lowest.
            let packed: [(name: String, bit: Int32)] =
                switch recount.table {
                case Recount.delivery.table: DeliveryTable.layout.packed
                case Recount.installDay.table: InstallDayTable.layout.packed
                default: []
                }
            let names = (recount.key + recount.values).map(\.name).filter { name in
                !packed.contains { $0.name == name }
            }
            let columns = names.map { "\"\($0)\"" }.joined(separator: ", ")
            let codes = packed.map { "coalesce(\"\($0.name)\", 0) * \($0.bit)" }
            let state =
                switch recount.table {
                case _ where recount.isSum: ("", "")
                case Recount.goal.table: (", seq", ", 0")
                default: (", state, key, codes", ", '', 0, \(codes.joined(separator: " + "))")
                }
            try connection.execute(
                script: """
                    DELETE FROM projection.\(recount.table) WHERE shard = \(shard);
                    INSERT INTO projection.\(recount.table) (\(columns), generation, shard\(state.0))
                    SELECT \(columns), 1, \(shard)\(state.1) FROM (\(recount.sql)) AS r
                    """)
        }
        try connection.query("UPDATE projection.progress SET position = \(head) WHERE shard = \(shard)")
        try connection.execute(script: "DROP VIEW recount_event; COMMIT")
    }

    /// Runs what nobody should, as the owner of everything.
    func tamper(_ script: String) throws { try database.run(script) }

    func verify(
        _ verifier: Verifier = Verifier(), _ generation: Verifier.Generation = .live, shards: [Int16]? = nil
    ) throws -> VerificationReport {
        try database.lending(nil) { connection in
            try verifier.verify(generation, shards: shards, on: &connection)
        }
    }
}
