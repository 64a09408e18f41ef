import CatalogueSupport
import Envelopes
import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("An install is erased from the funnels")
struct ErasureTests {
    /// An install of one app, and what a history is without it.
    private struct Victim {
        let shop: ShopHistory
        let app: TestApp
        let install: UUID

        /// The first of a shop.
        init(of shop: ShopHistory) {
            let first = shop.events[0]
            (self.shop, app, install) = (shop, shop.apps[first.app]!, first.event.source.installID)
        }

        func isOwn(_ event: StoredEvent) -> Bool { event.app == app.slug && event.event.source.installID == install }

        var others: [StoredEvent] { shop.events.filter { !isOwn($0) } }
    }

    private func expect(_ victims: [Victim], gone database: TestDatabase) throws {
        let views = FunnelRows(of: database)
        for victim in victims {
            try victim.shop.expectOracle(of: victim.others, in: views)
            #expect(try database.traces(of: victim.install, of: victim.app) == [])
        }
    }

    @Test("the funnels are those of a history without it, however far they had come")
    func lagging() throws {
        let shops = try ProjectedShops(seeds: 1...14)
        defer { shops.database.drop() }
        let victims = shops.shops.map(Victim.init)
        // Some histories are folded, some are so in part, some are not.
        let third = shops.events.count / 3
        try shops.append(shops.events.prefix(2 * third))
        try shops.project()
        try shops.append(shops.events.dropFirst(2 * third))
        for victim in victims.prefix(7) {
            let receipt = try shops.erase(victim.install, of: victim.app)
            let own = Set(victim.shop.events.filter(victim.isOwn).map(\.identity))
            #expect(receipt.own.events == Int64(own.count) && receipt.stopped.isEmpty)
        }
        try shops.expectProved("while they lag")
        try shops.project()
        for victim in victims.dropFirst(7) { _ = try shops.erase(victim.install, of: victim.app) }
        try expect(victims, gone: shops.database)
        try shops.database.expectGateHolds()
        try shops.expectLasting()
        try expect(victims, gone: shops.database)
    }

    @Test("so too beside a runner and a rebuild that is half way, whose tables are left without it")
    func halfWay() throws {
        let shops = try ProjectedShops(seeds: 1...8)
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        let victims = shops.shops.map(Victim.init)
        let stage = Lock(0)
        let rebuilder = Worker(name: "rebuild") {
            do {
                let outcome = try Rebuild(shops.control, names: []).run { phase in
                    guard case .verifying(shard: 2, of: _) = phase, stage.withLock({ $0 }) == 0 else { return }
                    // All is folded; it waits until the erasures are through.
                    stage.withLockNotifying { $0 = 1 }
                    _ = stage.wait(until: .after(seconds: 30)) { $0 == 2 ? true : nil }
                }
                if case .swapped = outcome { stage.withLockNotifying { $0 = 3 } }
            } catch { Issue.record(error) }
            stage.withLockNotifying { $0 = max($0, 3) }
        }
        try #require(stage.wait(until: .after(seconds: 30)) { $0 == 1 ? true : nil } == true)
        #expect(try shops.database.value("SELECT count(*) FROM projection.delivery_2", as: Int64.self) > 20)
        let onlooker = Onlooker(shops.database) { try FunnelReading(within: &$0).broken }
        try shops.besideRunner {
            for victim in victims { _ = try shops.erase(victim.install, of: victim.app) }
        }
        onlooker.expectContent()
        // The half-built tables are there still, for whoever drops them.
        try expect(victims, gone: shops.database)
        stage.withLockNotifying { $0 = 2 }
        rebuilder.join()
        try expect(victims, gone: shops.database)
        try shops.expectLasting()
    }

    @Test("among writers and a runner, nothing of it stays and all else counts")
    func busy() throws {
        let shops = try ProjectedShops(seeds: 1...8)
        defer { shops.database.drop() }
        let victims = shops.shops.map(Victim.init)
        let verdicts = Lock<[Verdict]>([])
        try shops.besideRunner {
            try together(2) { thread in
                if thread == 0 {
                    let all = try shops.append(shops.events)
                    verdicts.withLock { $0 = all }
                } else {
                    for victim in victims { _ = try shops.erase(victim.install, of: victim.app) }
                }
            }
        }
        let isErased = zip(shops.events, verdicts.withLock { $0 }).allSatisfy { event, verdict in
            verdict.reason == nil || victims.contains { $0.isOwn(event) } && verdict.reason == .erased
        }
        #expect(isErased)
        // What came before its erasure is gone, what came after was refused.
        try expect(victims, gone: shops.database)
        try shops.expectLasting()
    }

    @Test("what it sends of the time before is refused, and what happens after counts anew")
    func afterwards() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let shops = try ProjectedShops(none: database)
        let (gone, stays) = (UUID.random(), UUID.random())
        func events(_ start: Timestamp, _ install: UUID) -> [Event] {
            // Both have the same notifications.
            (0..<4).map { place in
                var event = Event.sample(at: start + Int64(place), install: install)
                event.notification.id = "shared-\(place)"
                return event
            }
        }
        let before = events(Event.sampleTime, gone)
        let mention = "{\"source\":{\"install_id\":\"\(gone.description.uppercased())\"}}"
        let rejection = Rejection(.unknownType, "type: no such")
        try shops.append(
            app.submission(before + events(Event.sampleTime, stays)),
            app.submission([], rejected: [RejectedEvent(id: nil, install: gone, rejection: rejection, raw: "1")]),
            app.submission([], rejected: [RejectedEvent(id: nil, install: stays, rejection: rejection, raw: "2")]),
            // Nobody could read whose this is, but it names it.
            app.submission([], rejected: [RejectedEvent(id: nil, rejection: rejection, raw: mention)]),
            app.submission(
                [], rejected: [RejectedEvent(id: nil, install: stays, rejection: rejection, raw: "3")], source: mention)
        )
        try shops.project()
        let receipt = try shops.erase(gone, of: app)
        #expect(receipt.own.deliveries == 4 && receipt.own.events == 4 && receipt.own.rejected == 3)
        #expect(try database.traces(of: gone, of: app) == [])
        #expect(try database.column("SELECT raw FROM analytics.rejected_events", of: String.self) == ["2"])
        func delivered() throws -> Int64 {
            try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel")
        }
        #expect(try delivered() == 4)
        #expect(try shops.append(app.submission(before))[0].allSatisfy { $0.reason == .erased })
        let after = events(receipt.erasure.erasedAt + 1_000_000, gone)
        #expect(try shops.append(app.submission(after))[0].allSatisfy { $0 == .accepted })
        try shops.project()
        #expect(try delivered() == 8)
        try shops.expectLasting()
        // Once more, now with what it has sent since.
        let again = try shops.erase(gone, of: app)
        #expect(again.own.deliveries == 4)
        #expect(again.total == Erasure.Counts(events: 8, deliveries: 8, rejected: 3, clientDrops: 0))
        #expect(try delivered() == 4)
        // And with nothing.
        let nothing = try shops.erase(gone, of: app)
        #expect(nothing.own.deliveries == 0 && nothing.own.events == 0)
        #expect(try shops.erase(.random(), of: app).own.events == 0)
        try shops.project()
        #expect(try delivered() == 4)
        try shops.expectProved()
    }

    @Test("an app that does not exist leaves nothing behind")
    func unknownApp() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let control = ProjectionControl(url: try database.url(), log: .silent)
        #expect(throws: PostgresError.self) { try ErasureRun(control).run(app: 77, install: .random()) }
        #expect(try database.value("SELECT count(*) FROM log.batch", as: Int64.self) == 0)
        #expect(try database.value("SELECT history FROM log.head", as: Int32.self) == 0)
    }

    @Test("what retention has sealed of it stays without its name, and all else of it goes")
    func sealed() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear)
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        #expect(try shops.retain().allSatisfy(\.isDropped))
        let frozen = try shops.database.frozen()
        let straddlers: [String] = try shops.database.column(
            "SELECT DISTINCT install_id::text FROM projection.sealed_delivery")
        #expect(straddlers.count > 2)
        let victims = shops.shops.flatMap { shop in
            Set(shop.events.map { [$0.app, "\($0.event.source.installID)"] }).map { (shop.apps[$0[0]]!, UUID($0[1])!) }
        }
        var erased = 0
        for (app, install) in victims where straddlers.contains("\(install)") {
            _ = try shops.erase(install, of: app)
            #expect(try shops.database.traces(of: install, of: app) == [])
            erased += 1
        }
        #expect(erased >= straddlers.count)
        #expect(try shops.database.frozen() == frozen)
        try shops.database.expectGateHolds()
        try shops.expectLasting()
    }

    @Test("a stopped projection is named in the receipt, and counts it no more once it is resumed")
    func stopped() throws {
        let shops = try ProjectedShops(seeds: 1...5)
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        try shops.database.run(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 3, stopped_because = 'x'
            WHERE name IN ('thread_funnel', 'story_page_funnel')
            """)
        let victims = shops.shops.map(Victim.init)
        for victim in victims {
            #expect(
                try shops.erase(victim.install, of: victim.app).stopped.map(\.name)
                    == ["story_page_funnel", "thread_funnel"])
        }
        try shops.rebuild(["thread_funnel", "story_page_funnel"])
        try expect(victims, gone: shops.database)
        try shops.expectLasting()
    }
}

extension TestDatabase {
    /// Where an install of an app is still named, the note of its erasure aside.
    func traces(of install: UUID, of app: TestApp) throws -> [String] {
        var connection = try connect()
        let tables: [String] = try connection.query(
            """
            SELECT format('%I.%I', relnamespace::regnamespace, relname) FROM pg_class
            WHERE relnamespace IN ('log'::regnamespace, 'projection'::regnamespace) AND relkind = 'r'
                AND relname NOT IN ('erasure', 'word')
            ORDER BY 1
            """
        ).map { try $0.get(0) }
        return try tables.filter { table in
            let hasApp: Bool = try connection.query(
                """
                SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = \(table)::regclass AND attname = 'app')
                """)[0].get(0)
            let query =
                "SELECT FROM \(table) AS row WHERE row::text ILIKE $1" + (hasApp ? " AND app = $2" : " AND $2 > 0")
            return try !connection.query(Statement(query, [.init("%\(install)%"), .init(app.id)])).isEmpty
        }
    }
}
