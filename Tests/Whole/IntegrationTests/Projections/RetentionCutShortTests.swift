import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing

@Suite("Retention that was cut short, or meets others")
struct RetentionCutShortTests {
    /// Where a run ends, by what fails there.
    enum Cut: String, CaseIterable {
        case afterClosing, whileSealing, afterSealing, afterCounting, beforeForgetting
    }

    @Test("is finished by the next run", arguments: Cut.allCases)
    func cutShort(_ cut: Cut) throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear.prefix(4))
        defer { shops.database.drop() }
        let database = shops.database
        try shops.append(shops.events)
        if cut != .afterClosing { try shops.project() }
        func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let views = FunnelRows(of: database)
            for shop in shops.shops {
                try shop.expectOracle(of: shop.events, .funnels, in: views, sourceLocation: sourceLocation)
            }
        }
        switch cut {
        case .afterClosing:
            try database.fail("INSERT OR UPDATE", on: "projection.delivery_1")
        case .whileSealing:
            let middle: String = try database.value(
                """
                SELECT max(notification_key) FROM projection.delivery WHERE first_device_at < '2026-01-01'
                """)
            try database.fail("INSERT", on: "projection.sealed_delivery", when: "NEW.notification_key = '\(middle)'")
        case .afterSealing: try database.fail("INSERT", on: "log.batch_loss")
        case .afterCounting: try database.fail("UPDATE", on: "log.partition", when: "NEW.dropped_at IS NOT NULL")
        case .beforeForgetting: try database.fail("DELETE", on: "projection.sealed_delivery")
        }
        if cut == .afterClosing {
            // The fold stops at its first batch, which retention learns after it has closed the months.
            #expect(throws: RetentionRun.Obstacle.self) { try shops.retain() }
            #expect(
                try database.value("SELECT count(*) FROM log.partition WHERE closed_at IS NOT NULL", as: Int64.self) > 0
            )
            #expect(try database.value("SELECT count(*) FROM projection.sealed_delivery", as: Int64.self) == 0)
        } else {
            #expect(throws: (any Error).self) { try shops.retain() }
            try expectWhole()
            try shops.expectProved("cut short")
        }
        try database.mend()
        if cut == .afterClosing {
            // Nothing is retained of what a stopped projection counts.
            #expect(throws: RetentionRun.Obstacle.self) { try shops.retain() }
            try shops.rebuild()
        }
        #expect(try shops.retain().allSatisfy(\.isDropped))
        try expectWhole()
        #expect(
            try database.value(
                "SELECT count(*) FROM log.partition WHERE closed_at IS NOT NULL AND dropped_at IS NULL", as: Int64.self)
                == 0)
        #expect(
            try database.value(
                "SELECT count(*) FROM projection.sealed_delivery WHERE last_device_at < '2026-01-01'", as: Int64.self)
                == 0)
        try shops.expectLasting()
    }

    @Test("stops before it closes anything when a projection has stopped, and says which")
    func stopped() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear.prefix(3))
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        try shops.database.run(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 1, stopped_because = 'x'
            WHERE name = 'media_funnel'
            """)
        let obstacle = #expect(throws: RetentionRun.Obstacle.self) { try shops.retain() }
        #expect(obstacle?.description.contains("resume media_funnel") == true)
        let closed: Int64 = try shops.database.value("SELECT count(*) FROM log.partition WHERE closed_at IS NOT NULL")
        #expect(closed == 0)
        try shops.rebuild(["media_funnel"])
        let before = try shops.funnels()
        #expect(try shops.retain().allSatisfy(\.isDropped))
        try shops.expect(before)
        try shops.expectLasting()
    }

    @Test("seals nothing while a table is of another version than this program's, since it would not be counted there")
    func version() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear.prefix(3))
        defer { shops.database.drop() }
        try shops.append(shops.events)
        try shops.project()
        let before = try shops.funnels()
        try shops.database.run("UPDATE projection.projector SET version = 99 WHERE name = 'story_funnel'")
        let obstacle = #expect(throws: RetentionRun.Obstacle.self) { try shops.retain() }
        #expect(obstacle?.description.contains("story_funnel") == true)
        #expect(try shops.database.frozen().isEmpty)
        try shops.expect(before)
        try shops.rebuild(["story_funnel"])
        #expect(try shops.retain().allSatisfy(\.isDropped))
        try shops.expect(before)
    }

    @Test("changes nothing beside writers, a runner and rebuilds")
    func busy() throws {
        let shops = try ProjectedShops(seeds: ProjectedShops.acrossNewYear + [1, 2, 3, 7])
        defer { shops.database.drop() }
        let others = shops.shops[5..<10]
        let old = shops.shops[..<5] + shops.shops[10...]
        let current = others.flatMap(\.events).filter { !$0.isOld }
        #expect(current.count > 30)
        try shops.append(old.flatMap(\.events))
        try shops.project()
        let slugs = old.flatMap { Array($0.apps.keys) }
        let before = try shops.funnels(of: slugs)
        let onlooker = Onlooker(shops.database) { connection in
            before.differences(in: try FunnelViews(of: slugs, on: &connection))
                + (try FunnelReading(within: &connection, hasSealed: true).broken)
        }
        let outcomes = Lock<[RetentionRun.RemovedMonth]>([])
        try shops.besideRunner {
            try together(3) { thread in
                switch thread {
                case 0: try shops.append(current)
                case 1: try shops.rebuild()
                default:
                    let found = try shops.retain()
                    outcomes.withLock { $0 = found }
                }
            }
        }
        onlooker.expectContent()
        let unfinished = outcomes.withLock { $0.filter { !$0.isDropped } }
        if !unfinished.isEmpty { #expect(try shops.retain().allSatisfy(\.isDropped)) }
        #expect(outcomes.withLock { $0.count } > 2)
        let views = FunnelRows(of: shops.database)
        for shop in others { try shop.expectOracle(of: current, in: views) }
        try shops.expect(before, of: slugs)
        try shops.expectLasting()
    }
}

extension TestDatabase {
    /// Has this fail from now on, as the world may fail at any time.
    func fail(_ operation: String, on table: String, when condition: String = "true") throws {
        try run(
            """
            CREATE SCHEMA IF NOT EXISTS test_fault;
            CREATE OR REPLACE FUNCTION test_fault.fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'the world fails'; END $$;
            GRANT USAGE ON SCHEMA test_fault TO PUBLIC;
            CREATE TRIGGER test_fault BEFORE \(operation) ON \(table)
            FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION test_fault.fail();
            """)
    }

    /// Ends all such failures.
    func mend() throws { try run("DROP SCHEMA test_fault CASCADE") }
}
