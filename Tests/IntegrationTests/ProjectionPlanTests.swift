import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@Suite("How steps find their events")
struct ProjectionPlanTests {
    @Test("on a log that was never analyzed, a step reads the events of its batches, not all of their days")
    func reading() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        // Each batch has events from end to end of ten days, as those of phones that were offline do.
        for _ in 0..<100 {
            let events = (0..<10).map { Event.sample(at: Event.sampleTime + Int64($0) * -86_400_000_000) }
            _ = try appender.append([app.submission(events)])
        }
        var control = ProjectionControl(url: try database.url(), log: .silent)
        control.mostEvents = 20
        #expect(try control.catchUp().stopped.isEmpty)
        #expect(try database.value("SELECT count(*) FROM projection.delivery", as: Int64.self) == 1_000)
        // Sessions report what they read when they end.
        let reads: Statement = """
            SELECT coalesce(sum(idx_tup_read) FILTER (WHERE indexrelname LIKE '%batch_id%'), 0)::bigint,
                coalesce(sum(idx_tup_read) FILTER (WHERE indexrelname LIKE '%device_at%'), 0)::bigint
            FROM pg_stat_user_indexes WHERE schemaname = 'log' AND relname LIKE 'event\\_%'
            """
        var connection = try database.connect()
        var counts: (byBatch: Int64, byTime: Int64) = (0, 0)
        let reported = try eventually {
            let row = try connection.query(reads)[0]
            counts = (try row.get(0), try row.get(1))
            return counts.byBatch >= 1_000
        }
        #expect(reported, "\(counts)")
        // Fifty steps over a thousand events.
        #expect(counts.byBatch < 5_000 && counts.byTime < 5_000, "\(counts)")
    }
}
