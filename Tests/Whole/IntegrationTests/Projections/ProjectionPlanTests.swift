import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("How steps find their events")
struct ProjectionPlanTests {
    @Test("on a log that was never analyzed, a step reads the events of its batches, not all of their days")
    func reading() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try append(100, of: try database.makeApp(), to: database)
        var control = ProjectionControl(url: try database.url(), log: .silent)
        control.mostEvents = 20
        #expect(try control.catchUp().stopped.isEmpty)
        #expect(try database.value("SELECT count(*) FROM projection.delivery", as: Int64.self) == 1_000)
        // Fifty steps over a thousand events.
        try expectReads(atLeast: 1_000, below: 5_000, in: database)
    }

    @Test("so does a runner whose plans were made when the log was empty")
    func fromTheFirstEvent() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var configuration = Runner.Configuration(url: try database.url(), lanes: 1)
        configuration.mostEvents = 20
        configuration.interval = 0.01
        let runner = Runner(configuration, metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        for batches in [1, 99] {
            try append(batches, of: app, to: database)
            #expect(try database.becomesLevel())
        }
        runner.stop()
        #expect(try database.value("SELECT count(*) FROM projection.delivery", as: Int64.self) == 1_000)
        // At most a step for each batch.
        try expectReads(atLeast: 1_000, below: 5_000, in: database)
        // Each delivery was looked for by its key, and none by its app.
        var connection = try database.connect()
        let scans: Statement = """
            SELECT coalesce(sum(idx_scan) FILTER (WHERE indexrelname LIKE '%key_idx'), 0)::bigint,
                coalesce(sum(idx_scan) FILTER (WHERE indexrelname LIKE '%app_day%'), 0)::bigint
            FROM pg_stat_user_indexes WHERE schemaname = 'projection' AND relname LIKE 'delivery\\_%'
            """
        let isReported = try eventually { try connection.query(scans)[0].get(0, as: Int64.self) >= 1_000 }
        #expect(isReported)
        #expect(try connection.query(scans)[0].get(1, as: Int64.self) == 0)
    }

    @Test(
        "the plan is the same on an empty log, in a new month with one batch, and on a long log, whatever statistics say"
    )
    func plan() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var owner = try database.connect()
        let empty = try expectByBatch(database)
        try append(1, of: app, to: database)
        try owner.execute(script: "ANALYZE log.event")
        #expect(try expectByBatch(database) == empty)
        // Rows enough for the planner to have every choice; then as many batches as fifty million events have, or none.
        try database.run(
            """
            INSERT INTO log.event (batch_id, device_at, event_id, install_id, app, codes, notification_key)
            SELECT 1000 + n / 13, timestamptz '2026-11-01Z' + n * interval '10 seconds', gen_random_uuid(),
                gen_random_uuid(), \(app.app.id), 1024, 'n'
            FROM generate_series(1, 200000) AS n
            """)
        let month = try database.value(
            "SELECT tableoid::regclass::text FROM log.event WHERE batch_id = 1000", as: String.self)
        for distinct in ["-1", "4000000", "1"] {
            try owner.execute(
                script:
                    "ALTER TABLE \(month) ALTER batch_id SET (n_distinct = \(distinct)); ANALYZE \(month), log.event")
            #expect(try expectByBatch(database) == empty, "\(distinct)")
        }
    }

    /// The plan by which a step reads its events, one scan for each month: by batch, and by nothing else.
    private func expectByBatch(_ database: TestDatabase) throws -> String {
        var session = try ProjectionSession.open(
            url: try database.url(), role: .projector, purpose: "test", log: .silent)
        let time = Event.sampleTime
        let batch = BatchRange.Batch(number: 1, id: 1, shardEvents: [1], times: (time, time))
        let other = BatchRange.Batch(number: 2, id: 2, shardEvents: [1], times: (time, time + 86_400_000_000))
        let read: String = EventReader.events(of: [batch, other], in: [0, 1])
        let rows = try session.query(Statement("EXPLAIN (COSTS OFF) " + read))
        var lines: [String] = []
        for row in rows { lines.append(try row.get(0)) }
        let scans = lines.filter { $0.contains("Scan") && $0.contains(" on event_") }
        #expect(
            !scans.isEmpty
                && scans.allSatisfy { $0.contains("Index Scan using event_") && $0.contains("_batch_id_idx") },
            "\(lines)")
        return lines.joined(separator: "\n")
    }

    /// Each batch has events from end to end of ten days, as those of phones that were offline do.
    private func append(_ batches: Int, of app: TestApp, to database: TestDatabase) throws {
        let appender = try database.appender()
        for _ in 0..<batches {
            let events = (0..<10).map { Event.sample(at: Event.sampleTime + Int64($0) * -86_400_000_000) }
            _ = try appender.append([app.submission(events)])
        }
    }

    /// How many rows of the log were found by their batch, and no more than these by their time.
    private func expectReads(atLeast least: Int64, below most: Int64, in database: TestDatabase) throws {
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
            return counts.byBatch + counts.byTime >= least
        }
        #expect(reported, "\(counts)")
        #expect(counts.byBatch >= least && counts.byBatch < most && counts.byTime < most, "\(counts)")
    }
}
