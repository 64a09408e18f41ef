import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@testable import Projections

@Suite("Steps of the projections")
struct ProjectionStepTests {
    @Test("take only so many batches at a time, however small they are")
    func manyBatches() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try database.appendReceipts(1...3, of: app)
        try database.run(
            """
            INSERT INTO log.batch (number, id, node, events, shard_events)
            SELECT number, -number, 'test', 0, array_fill(0, ARRAY[16]) FROM generate_series(4, 9000) AS number
            """)
        try database.appendReceipts(4...5, of: app)
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 1_000, log: .silent)
        var positions: [Int64] = []
        while case .moved = try stepper.step(upTo: 9_002, mostShards: 16, on: &connection) {
            positions.append(try database.value("SELECT min(position) FROM projection.progress"))
        }
        #expect(positions == [4_096, 8_192, 9_002])
        #expect(try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel", as: Int64.self) == 5)
        try database.expectLevel()
    }

    @Test("take a batch as a whole, also one with more events than a step should have, and nothing with it")
    func bigBatch() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        for count in [3, 700, 4, 5, 60] {
            _ = try appender.append([app.submission((0..<count).map { _ in Event.sample() })])
        }
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 10, log: .silent)
        var moved: [Int64] = []
        while case .moved(let events) = try stepper.step(upTo: 5, mostShards: 16, on: &connection) {
            moved.append(events)
        }
        #expect(moved == [3, 700, 9, 60])
        try database.expectLevel()
    }

    @Test("leave alone the shards that somebody else is moving, and take up to what was asked for")
    func shared() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        try database.appendReceipts(1...20, of: try database.makeApp())
        var other = try database.connect()
        try other.execute(script: "BEGIN")
        try other.query("SELECT FROM projection.progress WHERE shard < 10 FOR UPDATE")
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 100, log: .silent)
        func positions() throws -> [String] {
            try database.column(
                "SELECT position || ': ' || count(*) FROM projection.progress GROUP BY position ORDER BY position")
        }
        _ = try stepper.step(upTo: 12, mostShards: 4, on: &connection)
        #expect(try positions() == ["0: 12", "12: 4"])
        _ = try stepper.step(upTo: 20, mostShards: 16, on: &connection)
        #expect(try positions() == ["0: 10", "12: 4", "20: 2"])
        try other.execute(script: "ROLLBACK")
        #expect(try database.projections().catchUp().stopped.isEmpty)
        #expect(try positions() == ["20: 16"])
        try database.expectLevel()
    }
}
