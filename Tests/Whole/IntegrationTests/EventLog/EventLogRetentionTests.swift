import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Months are closed, counted and dropped")
struct EventLogRetentionTests {
    private static let (january, february, march) = (
        TestDatabase.month(2011, 1), TestDatabase.month(2011, 2), TestDatabase.month(2011, 3)
    )
    private static let now = TestDatabase.noon(2011, 6, 30)

    private func noon(_ month: Int, _ day: Int) -> Timestamp { TestDatabase.noon(2011, month, day) }

    private func candidates(
        _ database: TestDatabase, days: Int, now: Timestamp = Self.now
    ) throws -> [Retention.Candidate] {
        var connection = try database.session(nil)
        return try Retention.standings(olderThan: days, now: now, on: &connection).compactMap(\.candidate)
    }

    /// Months that were made, each with an event in its middle that was received at once.
    private func makeDatabase(_ months: Int...) throws -> (database: TestDatabase, app: TestApp) {
        let database = try TestDatabase.make()
        for month in months { try database.make(TestDatabase.month(2011, month)) }
        let app = try database.makeApp()
        _ = try database.appender().append([app.submission(months.map { Event.sample(at: noon($0, 15)) })])
        return (database, app)
    }

    @Test("a month may go when it had ended so many days ago and nothing of it occurred or came since")
    func candidates() throws {
        let (database, app) = try makeDatabase(1, 2, 3)
        defer { database.drop() }
        func months(_ days: Int) throws -> [CivilDate] { try candidates(database, days: days).map(\.month) }
        #expect(try months(0) == [Self.january, Self.february, Self.march])
        // From 30 June at noon, 1 April at midnight is 90.5 days ago.
        #expect(try months(90) == [Self.january, Self.february, Self.march])
        #expect(try months(91) == [Self.january, Self.february])
        #expect(try months(200) == [])
        #expect(try months(.max) == [])
        // Received yesterday, a late event keeps its month; so does one of a wrong clock, which occurred lately.
        let late = Event.sample(at: noon(1, 20), receivedAt: noon(6, 29))
        let corrected = Event.sample(
            at: noon(2, 20), occurredAt: noon(5, 20), receivedAt: noon(2, 20), timeSource: .corrected)
        _ = try database.appender().append([app.submission([late, corrected])])
        #expect(try months(0) == [Self.january, Self.february, Self.march])
        #expect(try months(80) == [Self.march])
        // For as long again, and no longer.
        #expect(try months(75) == [Self.march])
        #expect(try months(74) == [Self.january, Self.march])
        #expect(try candidates(database, days: 30).map(\.lookedAt) == [nil, 2, 2])
    }

    @Test("neither the current month nor the rows of the default partition may ever go")
    func never() throws {
        let (database, app) = try makeDatabase(5, 6)
        defer { database.drop() }
        _ = try database.appender().append([app.submission([Event.sample(at: noon(4, 1))])])
        #expect(try candidates(database, days: 0).map(\.month) == [TestDatabase.month(2011, 5)])
        #expect(try candidates(database, days: 0, now: TestDatabase.noon(2011, 5, 31)) == [])
    }

    @Test("an event that came after a month was looked at keeps it open")
    func lateForClosing() throws {
        let (database, app) = try makeDatabase(1, 2)
        defer { database.drop() }
        let found = try candidates(database, days: 30)
        _ = try database.appender().append([app.submission([Event.sample(at: noon(1, 3))])])
        var connection = try database.session(nil)
        #expect(try Retention.close(found[0], on: &connection) == nil)
        #expect(try Retention.close(found[1], on: &connection) == 2)
        let closed = try Retention.closedMonths(on: &connection)
        #expect(closed.map(\.month) == [Self.february] && closed.map(\.partition) == ["event_2011_02"])
        #expect(closed.map(\.position) == [2] && closed.map(\.isCounted) == [false])
        #expect(
            try database.appender().append([app.submission([Event.sample(at: noon(1, 4))])]) == [[.accepted]])
    }

    @Test("a commit that is under way while a month is closed counts as come, and keeps it open")
    func underWay() throws {
        let (database, _) = try makeDatabase(1)
        defer { database.drop() }
        let found = try candidates(database, days: 30)[0]
        // As a writer between its number and its commit.
        var writer = try database.connect()
        try writer.execute(
            script: """
                BEGIN; SELECT log.take_head(0);
                INSERT INTO log.event SELECT (jsonb_populate_record(e,
                    '{"batch_id": 7, "seq": 7, "device_at": "2011-01-15T13:00:00Z"}')).*
                FROM log.event AS e;
                INSERT INTO log.batch (number, id, node, events, shard_events, least_device_at, greatest_device_at)
                SELECT 2, 7, 'writer', 1, shard_events, least_device_at, greatest_device_at FROM log.batch
                """)
        let outcome = Lock<Int64??>(nil)
        let closer = Worker(name: "closer") {
            guard var connection = try? database.session(nil) else { return }
            let closed = try? Retention.close(found, on: &connection)
            outcome.withLock { $0 = .some(closed) }
        }
        #expect(try database.hasWaiters(1))
        try writer.execute(script: "COMMIT")
        closer.join()
        #expect(outcome.withLock { $0 } == .some(nil))
        #expect(
            try database.value("SELECT count(*) FROM log.partition WHERE closed_at IS NOT NULL", as: Int64.self) == 0)
    }

    @Test("losses count from the moment when the month is dropped, and what other months hold stays")
    func losses() throws {
        let (database, app) = try makeDatabase(1, 2)
        defer { database.drop() }
        let appender = try database.appender()
        _ = try appender.append([app.submission((1...40).map { Event.sample(at: noon($0 % 2 + 1, 10) + Int64($0)) })])
        _ = try appender.append([app.submission((1...10).map { Event.sample(at: noon(1, 11) + Int64($0)) })])
        var connection = try database.session(nil)
        #expect(try database.close(Self.january) == 3)
        for _ in 1...2 {
            try Retention.recordLosses(of: Self.january, on: &connection)
            try database.expectGateHolds()
        }
        let counted = try Retention.closedMonths(on: &connection)
        #expect(
            counted.map(\.month) == [Self.january] && counted.map(\.position) == [3]
                && counted.map(\.isCounted) == [true])
        for _ in 1...2 {
            #expect(try Retention.drop(Self.january, until: .now, on: &connection) == .dropped)
            try database.expectGateHolds()
        }
        #expect(try Retention.closedMonths(on: &connection).isEmpty)
        let batches = try connection.query("SELECT events, events_gone FROM analytics.batches ORDER BY batch")
        #expect(try batches.map { try $0.get(0, as: Int64.self) } == [2, 40, 10])
        #expect(try batches.map { try $0.get(1, as: Int64.self) } == [1, 20, 10])
        #expect(try LogStatus.read(on: &connection).events == 21)
        #expect(
            try database.value("SELECT count(*) FROM log.event WHERE device_at < '2011-02-01'", as: Int64.self) == 0)
    }

    @Test("no step is done before the one it stands on")
    func order() throws {
        let (database, _) = try makeDatabase(1)
        defer { database.drop() }
        var connection = try database.session(nil)
        #expect(throws: PostgresError.self) { try Retention.recordLosses(of: Self.january, on: &connection) }
        #expect(throws: PostgresError.self) { try Retention.drop(Self.january, until: .now, on: &connection) }
        try database.close(Self.january)
        #expect(throws: PostgresError.self) { try Retention.drop(Self.january, until: .now, on: &connection) }
        #expect(throws: PostgresError.self) {
            try Retention.close(.init(month: Self.february, lookedAt: 1), on: &connection)
        }
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 1)
        #expect(try database.value("SELECT count(*) FROM log.batch_loss", as: Int64.self) == 0)
    }

    @Test("beside a reader that does not end a month is busy, writers are not held up, and later it goes")
    func besideReader() throws {
        let (database, app) = try makeDatabase(1, 2)
        defer { database.drop() }
        try database.close(Self.january)
        var connection = try database.session(nil)
        try Retention.recordLosses(of: Self.january, on: &connection)
        var reader = try database.connect()
        try reader.execute(script: "BEGIN; SELECT count(*) FROM log.event WHERE device_at > '2011-02-01'")
        // While the reader is there: it gave up by itself.
        #expect(try Retention.drop(Self.january, until: .after(seconds: 0.3), on: &connection) == .busy)
        #expect(
            try database.appender().append([app.submission([Event.sample(at: noon(2, 3))])]) == [[.accepted]])
        try database.expectGateHolds()
        let isDropped = Lock<Retention.DropResult?>(nil)
        let dropper = Worker(name: "dropper") {
            guard var connection = try? database.session(nil) else { return }
            let outcome = try? Retention.drop(Self.january, until: .after(seconds: 60), on: &connection)
            isDropped.withLock { $0 = outcome }
        }
        try reader.execute(script: "COMMIT")
        dropper.join()
        #expect(isDropped.withLock { $0 } == .dropped)
        try database.expectGateHolds()
    }

    @Test("a month that is closed or dropped is not made again, and not asked for again")
    func notRemade() throws {
        let (database, app) = try makeDatabase(1, 2)
        defer { database.drop() }
        try database.retain(Self.january)
        try database.close(Self.february)
        let months: Statement = "SELECT relname::text FROM pg_class WHERE relname ~ '^event_2011_0[0-9]$' ORDER BY 1"
        #expect(try database.column(months) == ["event_2011_02"])
        var connection = try database.session(.ingest)
        for month in [Self.january, Self.february] {
            #expect(try connection.query("SELECT log.make_partition(\(month))")[0].get(0) == false)
        }
        let book = PartitionRequests()
        let appender = Appender(
            Appender.Configuration(url: try database.url(), node: "test"), allowance: RejectedAllowance(), months: book,
            log: .silent)
        let events = [Event.sample(at: noon(1, 20)), Event.sample(at: noon(2, 20))]
        for _ in 1...2 {
            #expect(
                try appender.append([app.submission(events)])[0].map(\.reason) == [.tooOld, .tooOld])
            let wanted = book.wanted(until: .now)
            #expect(
                try Partitions.keep(wanted, at: noon(2, 25), book: book, on: &connection, log: .silent) == .complete)
        }
        #expect(book.wanted(until: .now).isEmpty)
        #expect(try database.column(months) == ["event_2011_02", "event_2011_03", "event_2011_04"])
        #expect(try database.value("SELECT count(*) FROM log.event_elsewhere", as: Int64.self) == 0)
    }
}
