import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Batches are the log's positions")
struct EventLogBatchTests {
    @Test("four writers at once make dense numbers in commit order, which no reader ever sees with a gap")
    func dense() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (writers, batches) = (4, 30)
        let isDone = Lock(false)
        let looks = Lock<[(count: Int64, head: Int64)]>([])
        let reader = Worker(name: "reader") {
            guard var connection = try? database.connect() else { return }
            while !isDone.withLock({ $0 }) {
                guard let row = try? connection.query("SELECT count(*), coalesce(max(number), 0) FROM log.batch")[0],
                    let count: Int64 = try? row.get(0), let head: Int64 = try? row.get(1)
                else { return }
                looks.withLock { $0.append((count, head)) }
            }
        }
        defer {
            isDone.withLock { $0 = true }
            reader.join()
        }
        try together(writers) { writer in
            let appender = try database.appender(node: "node-\(writer)")
            for batch in 0..<batches {
                _ = try appender.append([app.submission((0...batch % 3).map { _ in Event.sample() })])
                #expect(appender.lastBatch?.events == batch % 3 + 1)
            }
        }
        isDone.withLock { $0 = true }
        reader.join()
        #expect(looks.withLock { $0 }.allSatisfy { $0.count == $0.head })
        #expect(looks.withLock { $0 }.count > 10)
        #expect(looks.withLock { $0 }.map(\.head) == looks.withLock { $0 }.map(\.head).sorted())

        let numbers: [Int64] = try database.column("SELECT number FROM log.batch ORDER BY committed_at")
        #expect(numbers == Array(1...Int64(writers * batches)))
        #expect(
            try database.value("SELECT count(DISTINCT node) FROM log.batch", as: Int64.self) == Int64(writers))
    }

    @Test("a batch says how many rows it has in each shard, and from when to when")
    func counts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        for batch in 0..<3 {
            let events = (0..<100).map { Event.sample(at: Event.sampleTime + Int64(batch * 1000 + $0)) }
            _ = try appender.append([app.submission(events + [events[0]])])
        }
        var connection = try database.connect()
        let wrong = try connection.query(
            """
            WITH present AS (
                SELECT b.number, s.shard, count(e.event_id) AS rows
                FROM log.batch AS b CROSS JOIN generate_series(0, \(TestDatabase.shards - 1)) AS s (shard)
                LEFT JOIN log.opened_event AS e ON e.batch_id = b.id AND e.shard = s.shard
                GROUP BY b.number, s.shard
            )
            SELECT b.number FROM log.batch AS b JOIN present AS p USING (number)
            WHERE b.shard_events[p.shard + 1] <> p.rows
            """)
        #expect(wrong.isEmpty)
        let sums = try connection.query(
            """
            SELECT events, (SELECT sum(n) FROM unnest(shard_events) AS n), cardinality(shard_events),
                least_device_at, greatest_device_at
            FROM log.batch ORDER BY number
            """)
        #expect(sums.count == 3)
        for (batch, row) in sums.enumerated() {
            #expect(try row.get(0, as: Int32.self) == 100)
            #expect(try row.get(1, as: Int64.self) == 100)
            #expect(try row.get(2, as: Int32.self) == Int32(TestDatabase.shards))
            #expect(try row.get(3) == Event.sampleTime + Int64(batch * 1000))
            #expect(try row.get(4) == Event.sampleTime + Int64(batch * 1000 + 99))
        }
        #expect(try database.value("SELECT shards FROM log.head") == TestDatabase.shards)
    }

    @Test("a batch of nothing but repeats or refusals has a number and no rows")
    func empty() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let event = Event.sample()
        _ = try appender.append([app.submission([event])])
        _ = try appender.append([app.submission([event])])
        let refused = RejectedEvent(id: nil, rejection: Rejection(.notAnObject, "an event must be an object"), raw: "1")
        #expect(try appender.append([app.submission([], rejected: [refused])]) == [[]])
        let rows: [Int32] = try database.column("SELECT events FROM log.batch ORDER BY number")
        #expect(rows == [1, 0, 0])
        #expect(
            try database.column("SELECT least_device_at IS NULL FROM log.batch ORDER BY number") == [false, true, true])
    }

    @Test("a commit is on disk before it is told, whatever the database's default, and a stronger one stays")
    func durable() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        func setting() throws -> String {
            var session = try database.session(.ingest)
            return try session.query("SHOW synchronous_commit")[0].get(0)
        }
        #expect(try database.value("SHOW synchronous_commit") == "off")
        #expect(try setting() == "on")
        var connection = try database.connect()
        for (standard, expected) in [
            ("local", "on"), ("remote_write", "remote_write"), ("remote_apply", "remote_apply"),
        ] {
            try connection.execute(script: "ALTER DATABASE \(database.name) SET synchronous_commit = \(standard)")
            #expect(try setting() == expected)
        }
    }

    @Test("a writer whose connection was killed throws, tells nothing, and the next append makes a new one")
    func killed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let event = Event.sample()
        _ = try appender.append([app.submission([Event.sample()])])
        var administrator = try database.administrator()
        try administrator.query(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'bellwether writer'
            """)
        let error = #expect(throws: PostgresError.self) { try appender.append([app.submission([event])]) }
        #expect(error?.isUnavailable == true)
        #expect(try appender.append([app.submission([event])]) == [[.accepted]])
        #expect(try database.column("SELECT number FROM log.batch ORDER BY number") == [Int64(1), 2])
    }

    /// How PostgreSQL names the unique index of a month.
    private static let identityIndex = "_device_at_"

    private func probes(in lines: some Sequence<String>) -> [String] {
        lines.filter { $0.contains("FROM unnest(") && $0.contains("log.event AS e") }
    }

    @Test(
        "repeats are looked up by the unique key in the one month they can be in, however large the log has grown since"
    )
    func probe() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (appender, lines) = try database.explainedAppender()
        let month: Int64 = 31 * 86_400_000_000
        func events(_ start: Timestamp) -> [Event] { (0..<4000).map { Event.sample(at: start + Int64($0)) } }
        let (first, second) = (events(Event.sampleTime), events(Event.sampleTime + month))
        // The statement is planned when the first repeat comes, on a log of one row.
        let repeated = Event.sample()
        _ = try appender.append([app.submission([repeated])])
        #expect(try appender.append([app.submission([repeated])]) == [[.duplicate]])
        _ = try appender.append([app.submission(first)])
        _ = try appender.append([app.submission(second)])
        let before = lines.all.count
        #expect(
            try appender.append([app.submission(Array(first[..<10]))]) == [[Verdict](repeating: .duplicate, count: 10)])
        let plans = probes(in: lines.all[before...])
        #expect(plans.count == 1)
        let plan = try #require(plans.first)
        #expect(!plan.contains("Seq Scan"))
        #expect(!plan.contains("Bitmap"))
        let executed = plan.split(separator: "\\n").filter {
            $0.contains("Index") && $0.contains(Self.identityIndex) && !$0.contains("never executed")
        }
        #expect(executed.count == 1 && executed.first?.contains("rows=1 loops=10") == true, "\(plan)")
    }

    @Test("the log is not asked before there is a repeat, and is asked for a while after one")
    func askedOnlyWhenWary() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (appender, lines) = try database.explainedAppender()
        let known = Event.sample()
        _ = try appender.append([app.submission([known])])
        _ = try appender.append([app.submission([Event.sample()])])
        #expect(probes(in: lines.all).isEmpty)
        // The unique index refuses the batch; then the log is asked, and the rest goes in.
        #expect(try appender.append([app.submission([Event.sample(), known])]) == [[.accepted, .duplicate]])
        #expect(probes(in: lines.all).count == 1)
        for _ in 0..<64 { _ = try appender.append([app.submission([Event.sample()])]) }
        #expect(probes(in: lines.all).count == 65)
        _ = try appender.append([app.submission([Event.sample()])])
        #expect(probes(in: lines.all).count == 65)
        #expect(try database.column("SELECT number FROM log.batch ORDER BY number") == Array(Int64(1)...68))
        #expect(try database.column("SELECT count(*) FROM log.event") == [Int64(68)])
    }
}
