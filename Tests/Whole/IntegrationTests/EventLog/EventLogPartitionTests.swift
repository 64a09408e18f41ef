import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The months of the log")
struct EventLogPartitionTests {
    private static let day: Int64 = 86_400_000_000

    /// Noon of a day.
    private func noon(_ year: Int, _ month: Int, _ day: Int) -> Timestamp { TestDatabase.noon(year, month, day) }

    /// Keeps the months as the keeper would at that moment.
    @discardableResult
    private func keep(
        _ database: TestDatabase, at now: Timestamp, asked: Set<CivilDate> = [],
        book: PartitionRequests = PartitionRequests()
    ) throws -> Partitions.Completion {
        var connection = try database.session(.ingest)
        return try Partitions.keep(asked, at: now, book: book, on: &connection, log: .silent)
    }

    private func months(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT to_char(month, 'YYYY-MM') FROM log.partition ORDER BY month")
    }

    /// In which partition each event stands.
    private func places(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT tableoid::regclass::text FROM log.event ORDER BY device_at")
    }

    @Test("a new database has last month, this month and two ahead, before anybody keeps them")
    func new() throws {
        let database = try TestDatabase.make(.migrated)
        defer { database.drop() }
        let expected: [String] = try database.column(
            "SELECT to_char(date_trunc('month', made_at) + n * interval '1 month', 'YYYY-MM') FROM generate_series(-1, 2) AS n, (SELECT min(made_at) AS made_at FROM log.partition) AS p"
        )
        #expect(try months(database) == expected)
    }

    @Test("the months around now are made once, by the role that writes, without gap over a year's end")
    func around() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let before = try Set(months(database))
        // A long time ago: the months ahead of the clock that a test runs at are there already.
        #expect(try keep(database, at: noon(2010, 12, 31)) == .complete)
        #expect(try months(database).filter { !before.contains($0) } == ["2010-11", "2010-12", "2011-01", "2011-02"])
        #expect(try keep(database, at: noon(2010, 12, 31)) == .complete)
        #expect(try months(database).count == before.count + 4)
        #expect(try keep(database, at: noon(2011, 1, 1)) == .complete)
        #expect(try months(database).filter { !before.contains($0) }.last == "2011-03")
        let names: [String] = try database.column("SELECT name FROM log.partition ORDER BY month LIMIT 2")
        #expect(names == ["event_2010_11", "event_2010_12"])
    }

    @Test("a month has its first microsecond and not its last, in UTC")
    func bounds() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var connection = try database.connect()
        try connection.execute(script: "SET timezone = 'Asia/Bangkok'")
        try connection.query("SELECT log.make_partition('2011-02-14')")
        let (first, next) = (noon(2011, 2, 1) + -Self.day / 2, noon(2011, 3, 1) + -Self.day / 2)
        let times = [first + -1, first, next + -1, next]
        _ = try database.appender().append([app.submission(times.map { Event.sample(at: $0) })])
        #expect(
            try places(database) == [
                "log.event_elsewhere", "log.event_2011_02", "log.event_2011_02", "log.event_elsewhere",
            ])
    }

    @Test("rows that came before their month's partition move to it, stay readable and stay unique")
    func moving() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let now = noon(2011, 6, 15)
        // A month back that an import brings, the month ahead of the kept ones, an absurd clock, and a year too old.
        let events = [
            Event.sample(at: noon(2001, 1, 1)), Event.sample(at: noon(2009, 2, 3)), Event.sample(at: noon(2011, 4, 20)),
            Event.sample(at: noon(2011, 6, 30)), Event.sample(at: noon(2011, 9, 1)),
            Event.sample(at: noon(9999, 12, 31)),
        ]
        #expect(try appender.append([app.submission(events)]) == [events.map { _ in .accepted }])
        #expect(try Set(places(database)) == ["log.event_elsewhere"])
        let read: Statement = "SELECT event_id FROM analytics.events ORDER BY device_at"
        #expect(try database.column(read) == events.map(\.id))

        #expect(try keep(database, at: now) == .complete)
        #expect(
            try places(database) == [
                "log.event_elsewhere", "log.event_2009_02", "log.event_2011_04", "log.event_2011_06",
                "log.event_elsewhere",
                "log.event_elsewhere",
            ])
        #expect(try database.column(read) == events.map(\.id))
        #expect(try appender.append([app.submission(events)]) == [events.map { _ in .duplicate }])
        #expect(try database.appender().append([app.submission(events)]) == [events.map { _ in .duplicate }])

        // When the future comes, its rows move as well, while the batch's counts stay true.
        #expect(try keep(database, at: noon(2011, 7, 1)) == .complete)
        #expect(try places(database)[4] == "log.event_2011_09")
        #expect(try appender.append([app.submission(events)]) == [events.map { _ in .duplicate }])
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 6)
        #expect(try database.value("SELECT events FROM log.batch WHERE number = 1", as: Int32.self) == 6)
    }

    @Test("the gate that lets rows move is shut again, also within the transaction that moved them")
    func gate() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        _ = try database.appender().append([
            app.submission([Event.sample(at: noon(2011, 2, 3)), Event.sample(at: noon(2012, 2, 3))])
        ])
        var connection = try database.connect()
        try connection.execute(script: "BEGIN; SELECT log.make_partition('2011-02-01')")
        let error = #expect(throws: PostgresError.self) { try connection.execute(script: "DELETE FROM log.event") }
        #expect(error?.description.contains("the log is append-only") == true)
    }

    @Test(
        "beside a reader that does not end, making a month gives up soon, holds nobody, and works when the reader has gone"
    )
    func besideReader() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let now = noon(2011, 2, 3)
        _ = try appender.append([app.submission([Event.sample(at: now)])])
        var reader = try database.connect()
        try reader.execute(script: "BEGIN; SELECT count(*) FROM log.event")

        // While the reader is there: it gave up by itself.
        #expect(try keep(database, at: now) == .tryAgainSoon)
        #expect(try !months(database).contains("2011-02"))
        #expect(try appender.append([app.submission([Event.sample(at: now)])]) == [[.accepted]])

        try reader.execute(script: "COMMIT")
        #expect(try keep(database, at: now) == .complete)
        #expect(try places(database) == ["log.event_2011_02", "log.event_2011_02"])
    }

    @Test("a writer that waits for a month to be made finds it, and its event is accepted")
    func writerBesideMaker() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let now = noon(2011, 2, 3)
        let (first, second) = (Event.sample(at: now), Event.sample(at: now + 1))
        let appender = try database.appender()
        _ = try appender.append([app.submission([first])])
        var maker = try database.connect()
        try maker.execute(script: "BEGIN; SELECT log.make_partition('2011-02-01')")
        let verdicts = Lock<[[Verdict]]?>(nil)
        let writer = Worker(name: "writer") {
            let outcome = try? database.appender().append([app.submission([first, second])])
            verdicts.withLock { $0 = outcome }
        }
        #expect(try database.hasWaiters(1))
        try maker.execute(script: "COMMIT")
        writer.join()
        #expect(verdicts.withLock { $0 } == [[.duplicate, .accepted]])
        #expect(try places(database) == ["log.event_2011_02", "log.event_2011_02"])
    }

    @Test("a reader that comes while rows move to their month finds each of them")
    func readerBesideMaker() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let events =
            (0..<3).map { Event.sample(at: noon(2011, 2, 3) + Int64($0)) } + [Event.sample(at: noon(2001, 1, 1))]
        _ = try database.appender().append([app.submission(events)])
        var maker = try database.connect()
        try maker.execute(script: "BEGIN; SELECT log.make_partition('2011-02-01')")
        let found = Lock<[Int64]>([])
        let reader = Worker(name: "reader") {
            let count: [Int64]? = try? database.column("SELECT count(*) FROM analytics.events")
            found.withLock { $0 = count ?? [] }
        }
        #expect(try database.hasWaiters(1))
        try maker.execute(script: "COMMIT")
        reader.join()
        #expect(found.withLock { $0 } == [4])
    }

    @Test("many that make the same month at once make it once")
    func makersTogether() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let made = Lock(0)
        try together(4) { _ in
            var connection = try database.session(.ingest)
            let isDone = try eventually {
                do throws(PostgresError) {
                    if try connection.query("SELECT log.make_partition('2011-02-01')")[0].get(0) {
                        made.withLock { $0 += 1 }
                    }
                    return true
                } catch {
                    guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
                    return false
                }
            }
            #expect(isDone)
        }
        #expect(made.withLock { $0 } == 1)
        #expect(try months(database).filter { $0 == "2011-02" }.count == 1)
    }

    @Test("a month with too much to move is left where it is, and one far from now is not made")
    func limits() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let now = noon(2011, 2, 3)
        _ = try database.appender().append([app.submission((0..<3).map { Event.sample(at: now + Int64($0)) })])
        var connection = try database.session(.ingest)
        #expect(try connection.query("SELECT log.make_partition('2011-02-01', 2)")[0].optional(0, as: Bool.self) == nil)
        #expect(try Set(places(database)) == ["log.event_elsewhere"])
        #expect(try connection.query("SELECT log.make_partition('2011-02-01', 3)")[0].get(0) == true)
        #expect(try Set(places(database)) == ["log.event_2011_02"])
        for month in ["1999-12-01", "9999-12-01"] {
            let error = #expect(throws: PostgresError.self) {
                try connection.query("SELECT log.make_partition(\(month)::text::date)")
            }
            #expect(error?.state == SQLState("22023"))
        }
    }

    @Test("a month that writers asked for is made if it lies in reach, and is not asked for again")
    func asked() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let book = PartitionRequests()
        let appender = Appender(
            Appender.Configuration(url: try database.url(), node: "test"), allowance: RejectedAllowance(), months: book,
            log: .silent)
        let now = noon(2011, 2, 3)
        let (near, far) = (CivilDate(year: 2010, month: 6, day: 1)!, CivilDate(year: 2030, month: 6, day: 1)!)
        let events = [Event.sample(at: noon(2010, 6, 10)), Event.sample(at: noon(2030, 6, 10))]
        _ = try appender.append([app.submission(events)])
        let wanted = book.wanted(until: .now)
        #expect(wanted == [near, far])
        #expect(try keep(database, at: now, asked: wanted, book: book) == .complete)
        #expect(try months(database).contains("2010-06"))
        #expect(try !months(database).contains("2030-06"))
        _ = try appender.append([
            app.submission([Event.sample(at: noon(2010, 6, 11)), Event.sample(at: noon(2030, 6, 11))])
        ])
        #expect(book.wanted(until: .now).isEmpty)
        #expect(try places(database).first == "log.event_2010_06")
    }

    @Test("who waits for wishes gets them at once, and is let go when the book is closed")
    func book() throws {
        let book = PartitionRequests()
        let got = Lock<[Set<CivilDate>]>([])
        let waiter = Worker(name: "waiter") {
            let wishes = book.wanted(until: .after(seconds: 30))
            got.withLock { $0.append(wishes) }
        }
        book.close()
        waiter.join()
        #expect(got.withLock { $0 } == [[]])
        #expect(PartitionRequests().wanted(until: .now).isEmpty)
    }
}
