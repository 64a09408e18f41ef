import Accounts
import EventLog
import FunnelOracle
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections
@testable import Registry

@Suite("What views say of busy days is kept")
struct KeptDaysTests {
    private static let views = ["stack_depth_funnel", "pressure_funnel"]

    /// Keeps every day, and makes each anew as soon as something has changed.
    private func keeper(of database: TestDatabase) throws -> KeptDays {
        var days = KeptDays(url: try database.url(), log: .silent)
        days.rules.leastDeliveries = 1
        days.rules.daysBack = 100_000
        (days.rules.leastSeconds, days.rules.rests) = (0, 0)
        return days
    }

    /// What the views show, except of when it is: with what is kept, if it is present or anyway, or as it is computed.
    private enum Source: String { case current, any, computed }

    private func rows(_ view: String, _ source: Source, in database: TestDatabase) throws -> [String] {
        let names: String =
            view == "pressure_funnel"
            ? """
            category, pressure, received, received_responded, received_engaged, turned_off, compared,
            compared_responded, expected_responded
            """
            : """
            scope, depth_bucket, delivered, received, expanded, opened, action_tapped, story_action_tapped,
            responded, received_responded, engaged, received_engaged, dismissed, unanswered, suppressed, media_attached
            """
        let (app, from): (String, String) =
            source == .computed
            ? ("a.slug", "projection.\(view) AS v JOIN log.app AS a ON a.id = v.app")
            : ("v.app", "analytics.\(view) AS v")
        let script: String = "SELECT ROW(\(app), v.day, \(names))::text FROM \(from) ORDER BY 1"
        return try database.lending(nil) { connection in
            try connection.execute(script: "SET bellwether.kept = '\(source.rawValue)'")
            defer { try? connection.execute(script: "RESET bellwether.kept") }
            return try connection.query(Statement(script)).map { try $0.get(0) }
        }
    }

    /// The views say what is computed. How many days they take from what is kept.
    @discardableResult
    private func expectPresent(
        _ what: Comment, in database: TestDatabase, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Int64 {
        for view in Self.views {
            let (shown, computed) = (
                try rows(view, .current, in: database), try rows(view, .computed, in: database)
            )
            #expect(!computed.isEmpty)
            #expect(
                shown == computed,
                "\(what): \(view) \(Set(shown).symmetricDifference(computed).sorted().prefix(4))",
                sourceLocation: sourceLocation)
        }
        return try database.value("SELECT count(*) FROM projection.kept_state WHERE fingerprint = present")
    }

    private func keep(_ database: TestDatabase) throws { try keeper(of: database).makeAll(within: 600) }

    @Test("at every moment they say what is computed, whatever happens to the days", arguments: [1, 7] as [UInt64])
    func random(seed: UInt64) throws {
        let shops = try ProjectedShops(seeds: seed..<(seed + 3))
        defer { shops.database.drop() }
        let database = shops.database
        let third = shops.events.count / 3
        for part in 0..<3 {
            try shops.append(shops.events[(part * third)..<(part == 2 ? shops.events.count : (part + 1) * third)])
            try shops.project()
            let before = try expectPresent("late events \(part)", in: database)
            try keep(database)
            #expect(try expectPresent("kept \(part)", in: database) >= max(before, 1))
        }
        // Every day is kept, so nothing is due.
        let kept: Int64 = try database.value("SELECT count(*) FROM projection.kept_day WHERE rows IS NOT NULL")
        #expect(try keeper(of: database).makeNext() == nil)

        let victim = shops.events[0]
        _ = try shops.erase(victim.event.source.installID, of: shops.app(of: victim))
        let left: Int64 = try database.value("SELECT count(*) FROM projection.kept_day")
        #expect(left < kept, "erasure has to remove what counts the install")
        #expect(try expectPresent("erasure", in: database) == left)
        try keep(database)

        try closeSomeButton(in: shops)
        try expectPresent("a button that closes", in: database)
        try keep(database)

        for (slug, zone) in zip(shops.shops.flatMap(\.apps.keys).sorted(), ["Pacific/Kiritimati", "Asia/Kolkata"]) {
            try database.setZone(of: slug, to: zone)
            try expectPresent("a zone that changes", in: database)
            _ = try database.makeZoneChanges(of: [slug])
            try expectPresent("a zone that has changed", in: database)
        }
        try keep(database)
        try expectPresent("kept in other zones", in: database)

        try shops.rebuild()
        #expect(try expectPresent("a rebuild", in: database) == 0)
        try keep(database)
        #expect(try expectPresent("kept after a rebuild", in: database) > 0)
        #expect(
            try database.column("SELECT DISTINCT generation FROM projection.day_revision", of: Int32.self).count < 2)

        try database.run("UPDATE log.head SET words = words + 1")
        #expect(try expectPresent("merged words", in: database) == 0)
    }

    /// Registers a button, the only one of some responses, as one that closes.
    private func closeSomeButton(in shops: ProjectedShops) throws {
        let soles = try shops.database.lending(nil) { connection in
            try connection.query(
                """
                SELECT app, category, first_response FROM analytics.deliveries
                WHERE sole AND received AND category ~ '^[A-Za-z_]+$' AND first_response ~ '^[A-Za-z_]+$' LIMIT 1
                """
            ).map { row in try (0..<3).map { try row.get($0, as: String.self) } }
        }
        guard let sole = soles.first, let app = shops.shops.compactMap({ $0.apps[sole[0]] }).first else { return }
        let before = try rows("stack_depth_funnel", .current, in: shops.database)
        try app.register(Category(id: sole[1], buttons: [.titled(sole[2], answer: .close)]))
        #expect(try rows("stack_depth_funnel", .current, in: shops.database) != before)
    }

    /// A history of a few days, kept, and then one delivery more.
    private func changed() throws -> (TestDatabase, ReportedHistory) {
        let database = try TestDatabase.make()
        var history = try ReportedHistory(in: database)
        try add(40, to: &history)
        try keep(database)
        try add(1, to: &history)
        return (database, history)
    }

    private func add(_ deliveries: Int, to history: inout ReportedHistory) throws {
        let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
        for number in 0..<deliveries {
            let delivery = ReportedHistory.Delivery(
                install: UInt64(number % 7), notification: history.notification(category: "NEWS"))
            history.add(
                .received(Receipt(via: .serviceExtension)), noon.later(hours: Int64(number % 3) * 24), of: delivery)
        }
        _ = try history.store()
    }

    @Test("for an hour what was kept is shown after a change, and says so; nobody has to take it")
    func stale() throws {
        let (database, _) = try changed()
        defer { database.drop() }
        for view in Self.views {
            let (kept, present) = (try rows(view, .any, in: database), try rows(view, .current, in: database))
            let computed = try rows(view, .computed, in: database)
            #expect(kept != present && present == computed)
            let made: String = """
                SELECT v.as_of = k.made_at AND v.as_of < now() FROM analytics.\(view) AS v
                JOIN projection.kept_day AS k ON k.view = '\(view)' AND k.day = v.day WHERE v.day = '2026-11-20' LIMIT 1
                """
            #expect(try database.value(Statement(made)))
            // A hub that hides shards gets nothing that was counted with them.
            try database.lending(nil) { connection in
                try connection.execute(script: "SET bellwether.hidden = '{0,1,2,3}'")
                defer { try? connection.execute(script: "RESET bellwether.hidden") }
                #expect(try connection.query(Statement("SELECT FROM analytics.\(view)" as String)).isEmpty)
            }
        }
        try database.run("UPDATE projection.kept_day SET made_at = made_at - interval '59 minutes'")
        #expect(try rows("pressure_funnel", .any, in: database) != rows("pressure_funnel", .current, in: database))
        try database.run("UPDATE projection.kept_day SET made_at = made_at - interval '1 minute'")
        for view in Self.views {
            #expect(try rows(view, .any, in: database) == rows(view, .computed, in: database))
            let late: String = "SELECT count(*) FROM analytics.\(view) WHERE as_of < now()"
            #expect(try database.value(Statement(late), as: Int64.self) == 0)
        }
    }

    @Test("a day that is kept is not computed, and another app's login sees nothing of it")
    func plans() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        try add(40, to: &history)
        func scans(_ view: String) throws -> [String] {
            try database.plan(of: "SELECT * FROM analytics.\(view) WHERE app = 'shop' AND day = '2026-11-21'")
                .filter { $0.contains("Scan") && ($0.contains(" on delivery_") || $0.contains(" on install_day_")) }
        }
        for view in Self.views { #expect(try scans(view).contains { !$0.contains("never executed") }) }
        try keep(database)
        for view in Self.views {
            let scans = try scans(view)
            #expect(!scans.isEmpty && scans.allSatisfy { $0.contains("never executed") }, "\(scans)")
        }
        try database.run("INSERT INTO log.analyst VALUES ('\(TestPostgres.analyst)', '{other}')")
        for view in Self.views { #expect(try database.analystRows("SELECT 1 FROM analytics.\(view)").isEmpty) }
    }

    @Test("what is being made when an install is erased is not kept, and nobody waits for it")
    func erasedMeanwhile() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        try add(40, to: &history)
        let control = ProjectionControl(url: try database.url(), log: .silent)
        let app = history.app.id
        var days = try keeper(of: database)
        days.computed = { _ = try ErasureRun(control).run(app: app, install: UUID(high: 0, low: 3)) }
        #expect(try days.makeNext() != nil)
        #expect(try database.value("SELECT count(*) FROM projection.kept_day", as: Int64.self) == 0)
        try expectPresent("erased meanwhile", in: database)
        try keep(database)
        try expectPresent("kept after it", in: database)
    }

    @Test("only days with many deliveries, not again before it is time, and nothing that takes too long")
    func rules() throws {
        let (database, _) = try changed()
        defer { database.drop() }
        func due(_ change: (inout KeptDays.Rules) -> Void) throws -> Bool {
            var days = try keeper(of: database)
            change(&days.rules)
            return try days.makeNext() != nil
        }
        #expect(try !due { $0.leastDeliveries = 16 })
        try database.run("UPDATE projection.kept_day SET due_at = now() + interval '1 minute'")
        #expect(try !due { _ in })
        try database.run("UPDATE projection.kept_day SET due_at = now()")
        #expect(try due { $0.leastSeconds = 60 })
        // The newest first, and it waits now; so it is another one.
        #expect(
            try database.value(
                "SELECT count(*) FROM projection.kept_day WHERE due_at > now() + interval '50 seconds'", as: Int64.self)
                == 1)
        try keep(database)
        try database.run("UPDATE log.head SET words = words + 1")
        #expect(try due { $0.mostRows = 0 })
        #expect(try database.value("SELECT count(*) FROM projection.kept_day WHERE rows IS NULL", as: Int64.self) == 1)
        try expectPresent("too many rows", in: database)
    }

    @Test("a service does it while it has little else to do, with the rights of the projector")
    func runner() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        try add(40, to: &history)
        var configuration = Runner.Configuration(url: try database.url())
        configuration.keptDays = try keeper(of: database).rules
        configuration.keptDays.pause = 0.01
        let runner = Runner(configuration, metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        defer { runner.stop() }
        let isKept = try eventually {
            try database.value("SELECT count(*) FROM projection.kept_state WHERE fingerprint = present", as: Int64.self)
                == 6
        }
        #expect(isKept)
        try expectPresent("by a service", in: database)
    }
}
