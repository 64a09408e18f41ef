import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Verifying the days from one on")
struct ProvedSinceTests {
    /// Three days after the first.
    private static let day = CivilDate(year: 2026, month: 11, day: 23)!
    private static let since = Verifier(since: day)

    /// Copies 0 and 1 on the first day, and 2 to 4 on the one that is verified, each committed when it occurred.
    private func filled() throws -> ProvedDatabase {
        let proved = try ProvedDatabase(copies: 2)
        for copy in 2...4 { try proved.append(copy: copy, days: 3) }
        try proved.commitAsItOccurred()
        try proved.fill()
        return proved
    }

    @Test("only the events of those days are read, and the report says which days are proved")
    func bounded() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        let whole = try proved.verify()
        #expect(whole.isProved && (whole.events, whole.deliveries) == (45, 20), "\(whole)")
        let report = try proved.verify(Self.since)
        #expect(report.isProved && (report.events, report.deliveries) == (27, 12), "\(report)")
        #expect(report.cells > 30 && report.cells < whole.cells)
        #expect(report.description.contains("compared \(report.cells) cells, of the days from 2026-11-23 on."))
        #expect(report.description.hasSuffix("every cell of the days from 2026-11-23 on matches the log.\n"))
        // From a day on that is still to come there is nothing.
        let coming = try proved.verify(Verifier(since: Self.day.advanced(by: 1)))
        #expect(coming.isProved && coming.cells == 0 && coming.events == 0)
        // A batch of the first day that has lost an event is not of these days.
        try proved.tamper(
            """
            BEGIN;
            SELECT log.open_gate();
            DELETE FROM log.event WHERE notification_key IN ('opened-0', 'opened-3') AND codes >> 10 & 31 = 2;
            COMMIT
            """)
        #expect(try proved.verify(Self.since).gaps.map(\.batch) == [4])
        #expect(try proved.verify().gaps.map(\.batch) == [1, 4])
    }

    @Test("what is off is found in every column of every table on those days, and on earlier days it is not looked for")
    func everyColumn() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        var connection = try proved.database.connect()
        for recount in Recounts.all where recount.isOfDays {
            let table = "projection.\(recount.table)"
            // Codes and flags are bits of one number, and what is NULL says the same as another column.
            let columns: [(name: String, change: String)] =
                switch recount.table {
                case Recount.delivery.table, Recount.installDay.table:
                    recount.values.compactMap { column in
                        switch column.meaning {
                        case .word: (column.name, "coalesce(\(quoted(column)), 0) + 1")
                        case .time where ["first_at", "first_occurred_at", "first_device_at"].contains(column.name):
                            (column.name, "\(column.name) + interval '1 us'")
                        default: nil
                        }
                    }
                default: recount.values.map { ($0.name, "\($0.name) + 1") }
                }
            for (days, isFound) in [(">= '2026-11-23'", true), ("< '2026-11-23'", false)] {
                let change = """
                    CREATE TABLE kept AS SELECT * FROM \(table);
                    UPDATE \(table) SET \(columns.map { "\"\($0.name)\" = \($0.change)" }.joined(separator: ", "))
                    WHERE ctid = (SELECT min(ctid) FROM \(table) WHERE day \(days))
                    """
                try connection.execute(script: change)
                let report = try proved.verify(Self.since)
                #expect(report.differing.map(\.table) == (isFound ? [recount.table] : []), "\(report)")
                let found = report.differences.first?.values.map(\.column) ?? []
                #expect(Set(columns.map(\.name)).isSubset(of: found) == isFound, "\(report)")
                try connection.execute(
                    script: "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM kept; DROP TABLE kept")
            }
        }
        #expect(try proved.verify(Self.since).isProved)
    }

    private func quoted(_ column: Recount.Column) -> String { "\"\(column.name)\"" }

    @Test("what is on another day than it belongs to is found, whether that day is among them or not")
    func otherDays() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        for (table, key) in [
            ("delivery", "notification_key = 'story-KEY'"), ("install_day", "true"), ("story_funnel", "true"),
        ] {
            for (day, copy, isMissing) in [("2026-11-20", "2", true), ("2026-11-23", "0", false)] {
                let from = isMissing ? "2026-11-23" : "2026-11-20"
                try proved.tamper(
                    """
                    CREATE TABLE kept AS SELECT * FROM projection.\(table);
                    DELETE FROM projection.\(table) WHERE day = '\(day)';
                    UPDATE projection.\(table) SET day = '\(day)'
                    WHERE day = '\(from)' AND \(key.replacing("KEY", with: copy))
                    """)
                let report = try proved.verify(Self.since)
                #expect(report.differing.map(\.table) == [table], "\(report)")
                #expect(report.differences.contains { isMissing ? $0.isMissing : $0.isSurplus || !$0.values.isEmpty })
                try proved.tamper(
                    "DELETE FROM projection.\(table); INSERT INTO projection.\(table) SELECT * FROM kept; DROP TABLE kept"
                )
            }
        }
        #expect(try proved.verify(Self.since).isProved)
    }

    @Test("a delivery that began earlier is told by the log: it stays on its day, whatever the fold says")
    func began() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        // An opening three days after the receipt, and a goal that names a delivery of the first day.
        let install: UUID = try proved.database.value(
            "SELECT install_id FROM projection.delivery WHERE notification_key = 'tapped-0'")
        func event(_ key: String, days: Int64, _ interaction: Interaction) -> Event {
            var event = Event.sample(
                at: Event.sampleTime + days * 86_400_000_000, install: install, category: "NEWS",
                interaction: interaction)
            event.notification.id = key
            event.notification.campaign = "spring"
            return event
        }
        let appender = try proved.database.appender()
        _ = try appender.append([
            proved.app.submission([
                event("tapped-0", days: 3, .opened(launch: .cold)),
                // Its receipt came before, and was sent after.
                event("late", days: 3, .opened(launch: .cold)),
            ])
        ])
        _ = try appender.append([
            proved.app.submission([event("late", days: 1, .received(Receipt(via: .serviceExtension)))])
        ])
        try proved.commitAsItOccurred()
        try proved.tamper(
            """
            BEGIN;
            SELECT log.open_gate();
            UPDATE log.batch SET committed_at = '2026-11-23 12:00Z' WHERE number = 7;
            COMMIT
            """
        )
        try proved.fill()
        let report = try proved.verify(Self.since)
        #expect(report.isProved && report.deliveries == 12, "\(report)")
        #expect(try proved.verify().isProved)
        // A fold that has forgotten how the delivery began.
        try proved.tamper(
            """
            UPDATE projection.delivery SET day = '2026-11-23', first_occurred_at = first_occurred_at + interval '3 days'
            WHERE notification_key = 'tapped-0'
            """)
        let spoilt = try proved.verify(Self.since)
        #expect(
            spoilt.differences.map(\.isSurplus) == [true] && spoilt.differing.map(\.table) == ["delivery"], "\(spoilt)")
    }

    @Test("a goal may name a delivery of those days long before its first event, and count among others of its day")
    func olderGoals() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        let install: UUID = try proved.database.value(
            "SELECT install_id FROM projection.delivery WHERE notification_key = 'tapped-3'")
        func goal(_ key: String?, milliseconds: Int64 = 0) -> Event {
            var event = Event.sample(
                at: Event.sampleTime + milliseconds * 1000, install: install,
                interaction: .goalReached(Goal("early", value: 1_000_000, currency: "EUR")))
            event.notification.id = key
            return event
        }
        // The last hundred of a day count, so the first ones do not.
        let goals =
            [goal("tapped-3"), goal("tapped-3", milliseconds: 1)] + (2..<101).map { goal(nil, milliseconds: $0) }
        _ = try proved.database.appender().append([
            proved.app.submission(goals + [goal("tapped-3", milliseconds: 200)])
        ])
        try proved.commitAsItOccurred()
        try proved.fill()
        let found = try proved.database.analystRows(
            "SELECT sum(goals_1h), sum(value_1h) FROM goal_funnel WHERE day = '2026-11-23' AND goal = 'early'")
        #expect(found == ["(2,2.000000)"])
        let report = try proved.verify(Self.since)
        #expect(report.isProved, "\(report)")
        #expect(try proved.verify().isProved)
        try proved.tamper("UPDATE projection.goal_cells SET goals = goals + 1 WHERE day = '2026-11-23'")
        #expect(try !proved.verify(Self.since).isProved)
    }

    @Test("what an install last received before it turned notifications off may be of the day before")
    func muted() throws {
        let proved = try ProvedDatabase(copies: 0, isFilled: false)
        defer { proved.database.drop() }
        let midnight = Timestamp(rfc3339: "2026-11-23T00:00:00+01:00")!
        let install = UUID.random()
        let appender = try proved.database.appender()
        for (seconds, interaction) in [
            (-80_000, Interaction.received(Receipt(via: .serviceExtension))),
            (3_600, .permissionChanged(to: .denied, from: .authorized)),
        ] as [(Int64, Interaction)] {
            _ = try appender.append([
                proved.app.submission([
                    .sample(
                        at: midnight + seconds * 1_000_000, install: install, category: "NEWS", interaction: interaction
                    )
                ])
            ])
        }
        try proved.commitAsItOccurred()
        try proved.fill()
        let report = try proved.verify(Self.since)
        #expect(report.isProved && report.cells == 3, "\(report)")
        #expect(
            try proved.database.value(
                "SELECT sum(received_nothing)::bigint FROM projection.muted_after", as: Int64.self) == 0)
    }

    @Test("of random histories of apps in many zones every day is proved, whatever the clocks of the database said")
    func histories() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try StoredHistories(seeds: 2_000..<2_030, in: database)
        #expect(try ProjectionControl(url: try database.url(), log: .silent).catchUp().stopped.isEmpty)
        // As if the clock had been far behind when all of this was committed.
        try database.run(
            """
            BEGIN;
            SELECT log.open_gate();
            UPDATE log.batch SET committed_at = '2001-01-01Z' WHERE number % 3 <> 0;
            COMMIT
            """
        )
        let days = try database.column(
            "SELECT day FROM (SELECT DISTINCT day FROM projection.delivery) AS d ORDER BY md5(day::text) LIMIT 8",
            of: CivilDate.self)
        #expect(days.count == 8)
        for day in days {
            let url = try database.url()
            let report = try Verifier(since: day).verify(lanes: 2) { try Connection(url: url) }
            #expect(report.isProved, "\(day): \(report)")
            let stored: Int64 = try database.value("SELECT count(*) FROM projection.delivery WHERE day >= \(day)")
            #expect(report.deliveries == stored && stored > 0, "\(day)")
        }
    }

    @Test("writers go on meanwhile, and what they add is not seen")
    func writers() throws {
        let proved = try filled()
        defer { proved.database.drop() }
        var connection = try proved.database.session(nil)
        let report = try Self.since.verify(on: &connection) { step in
            #expect(throws: Never.self) { try proved.append(copy: 10 + step.place, days: 3) }
        }
        #expect(report.isProved && report.events == 27, "\(report)")
    }
}
