import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Statistics of tables that consist of partitions")
struct WholeStatisticsTests {
    @Test("are made once a day, for tables with rows, and let the planner know how many rows an app has")
    func whole() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let events = (0..<1_000).map { Event.sample(at: Event.sampleTime + Int64($0), install: .random()) }
        _ = try database.appender().append([app.submission(events)])
        #expect(try database.projections().catchUp().stopped.isEmpty)
        var owner = try database.connect()
        var projector = try ProjectionSession.open(
            url: try database.url(), role: .projector, purpose: "test", log: .silent)
        func next() throws -> String? { try projector.query("SELECT log.analyze_whole()").valueIfAny() }
        // Nobody knows yet that there are rows.
        #expect(try next() == nil)
        // As autovacuum does it: the partitions, and never the whole.
        let partitions: [String] = try database.column(
            """
            SELECT inhrelid::regclass::text FROM pg_inherits
            WHERE inhparent IN ('log.event'::regclass, 'projection.delivery'::regclass)
            """)
        try owner.execute(script: "ANALYZE log.app, \(partitions.joined(separator: ", "))")
        let question = "SELECT category, count(*) FROM analytics.deliveries WHERE app = '\(app.app.slug)' GROUP BY 1"
        let before = try rows(of: question, in: database)
        // Somebody has a partition of the first one, which is tried again in ten minutes.
        let month = try #require(partitions.first { $0.hasPrefix("log.event_2") })
        try owner.execute(script: "BEGIN; LOCK TABLE \(month) IN SHARE UPDATE EXCLUSIVE MODE")
        #expect(try next() == "projection.delivery")
        #expect(try next() == nil)
        try owner.execute(script: "COMMIT")
        #expect(try next() == nil)
        let after = try rows(of: question, in: database)
        // Of a thousand; what else it takes for selective is as it was.
        #expect(after >= 20 * max(1, before), "\(before), \(after)")
    }

    /// How many rows the planner expects of the deliveries of an app.
    private func rows(of question: String, in database: TestDatabase) throws -> Int {
        let explain = "EXPLAIN " + question
        let plan: [String] = try database.column(Statement(explain))
        return plan.filter { $0.contains("Join") || $0.contains("Nested Loop") }
            .compactMap { line in line.firstMatch(of: /rows=([0-9]+)/).flatMap { Int($0.output.1) } }
            .max() ?? 0
    }
}
