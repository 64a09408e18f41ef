import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("An event that PostgreSQL refuses")
struct EventLogPoisonTests {
    private static let unstorable = Rejection(.unstorable, "PostgreSQL refused it (SQLSTATE 23514)")

    /// A database that refuses events whose notification is called poison, for a reason that ingestion cannot know.
    private func makeDatabase() throws -> TestDatabase {
        let database = try TestDatabase.make()
        var connection = try database.connect()
        try connection.execute(
            script: "ALTER TABLE log.event ADD CONSTRAINT no_poison CHECK (notification_key NOT LIKE 'poison%')")
        return database
    }

    private func poison(_ name: String = "poison") -> Event {
        var event = Event.sample()
        event.notification.id = name
        return event
    }

    @Test("is refused alone, stands among the rejected with its raw bytes, and its neighbours are stored")
    func alone() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let known = Event.sample()
        _ = try appender.append([app.submission([known])])
        let culprit = poison()
        let before = (0..<60).map { _ in Event.sample() }
        let after = (0..<39).map { _ in Event.sample() }
        let refused = RejectedEvent(id: nil, rejection: Rejection(.notAnObject, "no object"), raw: "1")
        let verdicts = try appender.append([
            app.submission(before + [culprit] + after, rejected: [refused], source: "{}"), app.submission([known]),
        ])
        #expect(
            verdicts == [
                before.map { _ in .accepted } + [.rejected(Self.unstorable)] + after.map { _ in .accepted },
                [.duplicate],
            ])
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 100)
        var connection = try database.connect()
        let rows = try connection.query(
            "SELECT reason, detail, raw, event_id, source FROM analytics.rejected_events ORDER BY reason DESC")
        #expect(rows.count == 2)
        #expect(try rows[0].get(0) == "unstorable")
        #expect(try rows[0].get(1) == "PostgreSQL refused it (SQLSTATE 23514)")
        #expect(try rows[0].get(2) == "{\"place\":60}")
        #expect(try rows[0].get(3) == culprit.id)
        #expect(try rows[0].get(4) == "{}")
        let sums = try connection.query(
            "SELECT sum(accepted), sum(duplicate), sum((rejected ->> 'unstorable')::int), sum((rejected ->> 'not_an_object')::int) FROM log.batch_tally"
        )[0]
        #expect(try sums.get(0, as: Int64.self) == 100)
        #expect(try sums.get(1, as: Int64.self) == 1)
        #expect(try sums.get(2, as: Int64.self) == 1)
        #expect(try sums.get(3, as: Int64.self) == 1)
    }

    @Test("many of them, and nothing but them, are each refused", arguments: [1, 2, 7])
    func many(every: Int) throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let app = try database.makeApp()
        let events = (0..<24).map { $0 % every == 0 ? poison("poison-\($0)") : Event.sample() }
        let verdicts = try database.appender().append([app.submission(events)])
        #expect(verdicts == [(0..<24).map { $0 % every == 0 ? .rejected(Self.unstorable) : .accepted }])
        #expect(
            try database.value("SELECT count(*) FROM log.event", as: Int64.self)
                == Int64(verdicts[0].filter { $0 == .accepted }.count))
        let numbers: [Int64] = try database.column("SELECT number FROM log.batch ORDER BY number")
        #expect(numbers == Array(1...Int64(numbers.count)))
    }

    @Test("is refused with all its repeats, which are counted as refused and not as duplicates")
    func repeats() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let culprit = poison()
        let verdicts = try database.appender().append([
            app.submission([culprit, Event.sample(), culprit]), app.submission([culprit]), other.submission([culprit]),
        ])
        let refused = Verdict.rejected(Self.unstorable)
        #expect(verdicts == [[refused, .accepted, refused], [refused], [refused]])
        var connection = try database.connect()
        let rows = try connection.query(
            "SELECT sum(accepted), sum(duplicate), sum((rejected ->> 'unstorable')::int) FROM log.batch_tally GROUP BY app ORDER BY app"
        )
        #expect(
            try rows.map { [try $0.get(0, as: Int64.self), try $0.get(1), try $0.get(2)] } == [[1, 0, 3], [0, 0, 1]])
    }

    @Test("a retry of it is refused again, and the same raw is kept once")
    func retry() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let culprit = poison()
        for _ in 1...2 {
            #expect(try appender.append([app.submission([culprit])]) == [[.rejected(Self.unstorable)]])
        }
        #expect(try database.value("SELECT count(*) FROM log.rejected", as: Int64.self) == 1)
        #expect(
            try database.value("SELECT sum((rejected ->> 'unstorable')::int) FROM log.batch_tally", as: Int64.self) == 2
        )
    }

    @Test("a refusal of what stands beside the events is not blamed on an event")
    func notTheEvent() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var connection = try database.connect()
        try connection.execute(script: "ALTER TABLE log.client_drop ADD CONSTRAINT few CHECK (count < 10)")
        let drop = ClientDrop(id: .random(), count: 10, since: nil, reason: .size)
        let appender = try database.appender()
        let event = Event.sample()
        let error = #expect(throws: PostgresError.self) {
            try appender.append([app.submission([event], drops: [drop])])
        }
        #expect(error?.state == .checkViolation)
        #expect(try appender.append([app.submission([event])]) == [[.accepted]])
        #expect(try database.value("SELECT count(*) FROM log.rejected", as: Int64.self) == 0)
    }

    @Test("a rejected event that no text can hold fails nothing beside it")
    func unwritableRejection() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let refused = RejectedEvent(
            id: nil, rejection: Rejection(.invalidField, "a\0b: holds NUL"), raw: "{\"a\0b\":1}")
        #expect(
            try database.appender().append([app.submission([Event.sample()], rejected: [refused], source: "{\0}")])
                == [[.accepted]])
        #expect(
            try database.column("SELECT raw || detail || source FROM log.rejected")
                == ["{\"a\u{FFFD}b\":1}a\u{FFFD}b: holds NUL{\u{FFFD}}"])
    }
}
