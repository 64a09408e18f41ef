import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Retention seals funnels")
struct RetentionTests {
    @Test("every funnel is what it was, at each moment and after a rebuild, and the sealed deliveries are gone")
    func unchanged() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear + [1, 2, 3, 7, 8, 9])
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        let before = try shops.funnels()
        let onlooker = Onlooker(shops.database) { connection in
            before.differences(in: try FunnelViews(on: &connection))
                + (try FunnelReading(within: &connection, hasSealed: true).broken)
        }
        let outcomes = try shops.retain()
        onlooker.expectContent()
        let months = Set(shops.events.filter(\.isOld).map(\.event.deviceAt.month))
        #expect(outcomes.count >= 3 && Set(outcomes.map(\.month)) == months && outcomes.allSatisfy(\.isDropped))
        #expect(outcomes.reduce(0) { $0 + $1.sealed } > 30)
        let kept = try shops.database.value("SELECT count(*) FROM log.event", as: Int64.self)
        #expect(kept > 50)
        #expect(try shops.database.value("SELECT count(*) FROM analytics.deliveries", as: Int64.self) > 10)
        #expect(
            try shops.database.value(
                "SELECT count(*) FROM analytics.deliveries WHERE first_device_at < '2026-01-01'", as: Int64.self) == 0)
        // Those across New Year have events in the log that count no more.
        #expect(try shops.database.value("SELECT count(*) FROM projection.sealed_delivery", as: Int64.self) > 2)
        try shops.database.expectGateHolds()
        try shops.expectLasting()
        #expect(try shops.retain().isEmpty)
        try shops.expect(before)
    }

    @Test(
        "what comes later of a sealed delivery counts no more, of a forgotten one anew, and of a dropped month is refused"
    )
    func late() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear + [1, 2, 3, 7, 8, 9])
        defer { shops.database.drop() }
        // Half of what is of the new year comes when the old one is gone.
        let (early, late) = (
            shops.events.enumerated().filter { $0.offset % 2 == 0 }.map(\.element),
            shops.events.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        )
        try shops.append(early)
        try shops.project()
        let sealed = Dictionary(grouping: early, by: \.delivery).filter { $0.value.contains(where: \.isOld) }
        // With a goal of the old year go all goals of its install on that day, and with them the deliveries that they
        // count for.
        let credited: [String] = try shops.database.column(
            """
            SELECT DISTINCT concat_ws(' ', a.slug, g.install_id, credit.key) FROM projection.goal AS g
            JOIN log.app AS a ON a.id = g.app
            CROSS JOIN LATERAL (VALUES (g.response_key), (g.receipt_key)) AS credit (key)
            WHERE credit.key IS NOT NULL AND EXISTS (
                SELECT FROM projection.goal AS old
                WHERE old.app = g.app AND old.install_id = g.install_id AND old.device_at < '2026-01-01'
                    AND (old.occurred_at AT TIME ZONE 'UTC')::date = (g.occurred_at AT TIME ZONE 'UTC')::date)
            """)
        let straddlers = Set(sealed.filter { !$0.value.allSatisfy(\.isOld) }.keys)
            .union(credited.map { $0.split(separator: " ", maxSplits: 2).map(String.init) })
        #expect(try shops.retain().allSatisfy(\.isDropped))
        let frozen = try shops.database.frozen()
        for (event, verdict) in zip(late, try shops.append(late)) {
            if event.isOld {
                #expect(verdict.reason == .tooOld)
            } else {
                #expect(verdict.reason == nil)
            }
        }
        try shops.project()
        let fresh = shops.events.filter { !$0.isOld && !straddlers.contains($0.delivery) }
        #expect(straddlers.count > 2)
        #expect(late.contains { !$0.isOld && straddlers.contains($0.delivery) })
        #expect(fresh.contains { !straddlers.contains($0.delivery) && sealed[$0.delivery] != nil })
        let rows = FunnelRows(of: shops.database)
        for shop in shops.shops { try shop.expectOracle(of: fresh, .deliveries, in: rows) }
        #expect(try shops.database.frozen() == frozen)
        try shops.expectLasting()
    }

    @Test("a projection that had not begun is brought level first", arguments: [false, true])
    func lagging(besideRunner: Bool) throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear.prefix(5) + [1, 2])
        defer { shops.database.drop() }
        try shops.append(shops.events)
        if besideRunner {
            #expect(try shops.besideRunner { try shops.retain() }.allSatisfy(\.isDropped))
        } else {
            #expect(try shops.retain().allSatisfy(\.isDropped))
        }
        let rows = FunnelRows(of: shops.database)
        for shop in shops.shops { try shop.expectOracle(of: shop.events, .funnels, in: rows) }
        try shops.project()
        try shops.expectProved()
    }

    @Test("a delivery that loses nothing goes on, whatever lies between its events")
    func unsealed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let shops = try ProjectedShops(none: database)
        for month in 1...4 { try database.make(TestDatabase.month(2025, month)) }
        let install = UUID.random()
        func event(_ id: String, _ month: Int, year: Int = 2025, _ interaction: Interaction) -> Event {
            var event = Event.sample(
                at: TestDatabase.noon(year, month, 5), occurredAt: TestDatabase.noon(2025, max(month, 3), 5),
                receivedAt: TestDatabase.noon(2025, 4, 30), timeSource: .corrected, install: install,
                interaction: interaction)
            event.notification.id = id
            return event
        }
        // Nothing of February came lately; January is held by what did.
        let old = event("old", 2, .received(Receipt(via: .serviceExtension)))
        var february = old
        february.occurredAt = february.deviceAt
        february.receivedAt = february.deviceAt
        try shops.append(
            app.submission([
                february, event("across", 1, .received(Receipt(via: .serviceExtension))), event("across", 4, .expanded),
                event("clock", 1, year: 1970, .received(Receipt(via: .serviceExtension))), event("clock", 4, .expanded),
            ]))
        try shops.project()
        let before = try shops.funnels()
        let outcomes = try shops.retain(days: 30, now: TestDatabase.noon(2025, 5, 2))
        #expect(outcomes.map(\.month) == [2, 3].map { TestDatabase.month(2025, $0) })
        #expect(outcomes.map(\.sealed) == [1, 0])
        try shops.expect(before)
        let keys: [String] = try database.column("SELECT notification_key FROM analytics.deliveries ORDER BY 1")
        #expect(keys == ["across", "clock"])
        // They are opened only now, and that still counts.
        try shops.append(
            app.submission([event("across", 4, .opened(launch: .cold)), event("clock", 4, .opened(launch: .cold))]))
        try shops.project()
        #expect(
            try database.value("SELECT sum(opened)::bigint FROM analytics.category_funnel", as: Int64.self) == 2)
        try shops.expectLasting()
    }

    @Test("a sealed delivery is remembered for as long as the log holds anything of it")
    func remembered() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let shops = try ProjectedShops(none: database)
        for month in 1...4 { try database.make(TestDatabase.month(2025, month)) }
        let install = UUID.random()
        func append(_ months: Int...) throws {
            let events = months.map { Event.sample(at: TestDatabase.noon(2025, $0, 5), install: install) }
            try shops.append(app.submission(events))
            try shops.project()
        }
        func remembered() throws -> Int64 { try database.value("SELECT count(*) FROM projection.sealed_delivery") }
        try append(1)
        // Sealed while somebody reads, so that January is not dropped, and a late event comes meanwhile.
        var reader = try database.connect()
        try reader.execute(script: "BEGIN; SELECT FROM log.event LIMIT 1")
        let held = try shops.retain(days: 1, patience: 0, now: TestDatabase.noon(2025, 2, 9))
        #expect(held.map(\.sealed) == [1] && held.map(\.isDropped) == [false])
        try append(3)
        let before = try shops.funnels()
        try shops.expectProved("while the reader reads")
        try reader.execute(script: "ROLLBACK")
        #expect(try shops.retain(days: 1, now: TestDatabase.noon(2025, 2, 9)).map(\.isDropped) == [true])
        try shops.expect(before)
        #expect(try remembered() == 1)
        try shops.expectLasting()
        // With March all of it is gone.
        #expect(try shops.retain(days: 1, now: TestDatabase.noon(2025, 4, 9)).count == 2)
        #expect(try remembered() == 0)
        try shops.expect(before)
        try append(4)
        try shops.expectLasting()
        #expect(
            try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel", as: Int64.self) == 2)
    }

    @Test("an old month in which something came lately stays, and its deliveries with it")
    func receivedLately() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let shops = try ProjectedShops(none: database)
        try database.make(TestDatabase.month(2025, 1))
        let old = Event.sample(at: TestDatabase.noon(2025, 1, 5))
        let late = Event.sample(at: TestDatabase.noon(2025, 1, 6), receivedAt: TestDatabase.noon(2025, 3, 20))
        try shops.append(app.submission([old, late]))
        #expect(try shops.retain(days: 30, now: TestDatabase.noon(2025, 3, 21)).isEmpty)
        try shops.project()
        #expect(try database.value("SELECT count(*) FROM analytics.deliveries", as: Int64.self) == 2)
        #expect(try shops.retain(days: 30, now: TestDatabase.noon(2025, 6, 2)).map(\.sealed) == [2])
    }
}

extension TestDatabase {
    /// All that retention has sealed, a line for each row.
    func frozen() throws -> [String] {
        let tables: [String] = try column(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = 'projection'::regnamespace AND relkind = 'r' AND relname LIKE '%\\_0' ORDER BY 1
            """)
        let query = tables.map { "SELECT '\($0) ' || row::text FROM projection.\($0) AS row" }
        // Given as a text: the SQL is put together here, and nothing of it is a parameter.
        let sql: String = "\(query.joined(separator: " UNION ALL ")) ORDER BY 1"
        return try column(Statement(sql))
    }
}
