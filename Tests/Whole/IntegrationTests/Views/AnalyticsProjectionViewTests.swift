import Postgres
import TestSupport
import Testing

@Suite("How far the projections have come, as analysts read it")
struct AnalyticsProjectionViewTests {
    /// Commits of these ages in hours, oldest first, numbered from 1.
    private func commit(hoursAgo: [Int], in database: TestDatabase) throws {
        for (place, hours) in hoursAgo.enumerated() {
            try database.run(
                """
                INSERT INTO log.batch (number, id, committed_at, node, events, shard_events)
                VALUES (\(place + 1), \(place + 1), now() - interval '\(hours) hours', 'test', 0, '{}')
                """)
        }
        // However long ago the database was made: nothing is stalled.
        try database.run("UPDATE projection.progress SET moved_at = now()")
    }

    private func rows(_ database: TestDatabase) throws -> [String] {
        try database.analystRows(
            """
            SELECT name, version, position, lag, round(lag_seconds / 3600) AS hours, status, stopped_batch,
                stopped_because
            FROM projections WHERE name IN ('category_funnel', 'deliveries') ORDER BY name
            """)
    }

    @Test("a projection stands where the last of its shards stands, and waits as long as the batch after that")
    func position() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        #expect(
            try rows(database) == ["(category_funnel,1,0,0,0,running,,)", "(deliveries,3,0,0,0,running,,)"])
        try commit(hoursAgo: [5, 4, 3], in: database)
        #expect(
            try rows(database) == ["(category_funnel,1,0,3,5,running,,)", "(deliveries,3,0,3,5,running,,)"])
        try database.run(
            """
            UPDATE projection.progress SET position = 3;
            UPDATE projection.progress SET position = 2 WHERE shard = 3;
            """)
        #expect(
            try rows(database) == ["(category_funnel,1,2,1,3,running,,)", "(deliveries,3,2,1,3,running,,)"])
        try database.run("UPDATE projection.progress SET position = 3")
        #expect(
            try rows(database) == ["(category_funnel,1,3,0,0,running,,)", "(deliveries,3,3,0,0,running,,)"])
        #expect(
            try database.column("SELECT name FROM analytics.projections ORDER BY name")
                == ProjectionTables.projections.sorted())
    }

    @Test("a stopped one stands before the batch that stopped it, or where its shards stand, while the others go on")
    func stopped() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try commit(hoursAgo: [9, 6, 3, 1], in: database)
        try database.run(
            """
            UPDATE projection.progress SET position = 4;
            UPDATE projection.projector
            SET stopped_at = '2026-11-20 09:30:00+00', stopped_batch = 2, stopped_because = 'division by zero'
            WHERE name = 'category_funnel';
            """)
        #expect(
            try rows(database) == [
                "(category_funnel,1,1,3,6,stopped,2,\"division by zero\")", "(deliveries,3,4,0,0,running,,)",
            ])
        #expect(
            try database.analystRows("SELECT stopped_at FROM projections WHERE status = 'stopped'") == [
                "(\"2026-11-20 09:30:00+00\")"
            ])
        try database.run("UPDATE projection.progress SET position = 0 WHERE shard = 3")
        #expect(try rows(database).first == "(category_funnel,1,0,4,9,stopped,2,\"division by zero\")")
    }

    @Test("a generation that is being built does not show before it is live")
    func generations() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        try commit(hoursAgo: [2], in: database)
        try database.run(
            """
            INSERT INTO projection.progress (generation, shard, position) SELECT 2, shard, 1 FROM projection.progress;
            UPDATE projection.projector SET version = 4 WHERE generation = 2 AND name = 'deliveries';
            """)
        #expect(
            try rows(database) == ["(category_funnel,1,0,1,2,running,,)", "(deliveries,3,0,1,2,running,,)"])
        try database.run(
            """
            UPDATE projection.generation SET state = 'retired' WHERE id = 1;
            UPDATE projection.generation SET state = 'live' WHERE id = 2;
            """)
        #expect(
            try rows(database) == ["(category_funnel,1,1,0,0,running,,)", "(deliveries,4,1,0,0,running,,)"])
    }
}
