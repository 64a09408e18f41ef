import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("An install is erased")
struct EventLogErasureTests {
    private static let install = UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)
    /// Long after any moment at which this may run.
    private static let later = TestDatabase.noon(2200, 1, 1)

    private func noon(_ month: Int, _ day: Int) -> Timestamp { TestDatabase.noon(2011, month, day) }

    /// Two months and what is elsewhere, in three batches: events of the install among those of others.
    private func makeDatabase() throws -> (database: TestDatabase, app: TestApp) {
        let database = try TestDatabase.make()
        for month in [1, 2] { try database.make(TestDatabase.month(2011, month)) }
        let app = try database.makeApp()
        let appender = try database.appender()
        for batch in 0..<3 {
            let events = (1...30).map { place in
                Event.sample(
                    at: noon(place % 3 + 1, batch + 1) + Int64(place),
                    install: place % 5 == 0 ? Self.install : UUID(high: 7, low: UInt64(place)))
            }
            _ = try appender.append([app.submission(events)])
        }
        return (database, app)
    }

    private func events(_ database: TestDatabase, of install: UUID = Self.install) throws -> Int64 {
        try database.value("SELECT count(*) FROM log.event WHERE install_id = \(install)")
    }

    @Test("its events are gone, those of others stay, and every batch is expected to be what it is")
    func gone() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let other = try database.makeApp("other")
        _ = try database.appender().append([other.submission([Event.sample(install: Self.install)])])
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        #expect(erasure.number == 5)
        #expect(try Erasure.unfinished(on: &connection) == [erasure])
        let findings = try erasure.findEvents(on: &connection)
        #expect(findings.events == 18 && findings.position == 5)
        let receipt = try connection.transaction { connection throws(PostgresError) in
            try erasure.deleteEvents(findings, on: &connection)
        }
        #expect(receipt.events.map(\.month) == [1, 2, 3].map { TestDatabase.month(2011, $0) })
        #expect(receipt.events.map(\.events) == [6, 6, 6])
        #expect(receipt.total == 18 && receipt.rejected == 0 && receipt.clientDrops == 0)
        #expect(try Erasure.unfinished(on: &connection) == [])
        // The same install of another app is another one.
        #expect(try events(database) == 1)
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 73)
        try database.expectGateHolds()
        let row = try connection.query(
            "SELECT node, events, events_gone, least_device_at FROM analytics.batches WHERE batch = 5")[0]
        #expect(try row.get(0) == "erase" && row.get(1) == Int64(0) && row.get(2) == Int64(0))
        #expect(try row.optional(3, as: Timestamp.self) == nil)
        #expect(try connection.query("SELECT sum(events_gone)::bigint FROM analytics.batches")[0].get(0) == Int64(18))
    }

    @Test("events that came while the log was read go too, and stand in the table of those found")
    func cameMeanwhile() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        let findings = try erasure.findEvents(on: &connection)
        // From after the beginning, so they are taken; the install is still at work.
        let appender = try database.appender()
        let news = (0..<3).map { Event.sample(at: Self.later + Int64($0), install: Self.install) }
        #expect(try appender.append([app.submission(news)]) == [news.map { _ in .accepted }])
        let receipt = try connection.transaction { connection throws(PostgresError) in
            try erasure.deleteEvents(findings, on: &connection)
        }
        #expect(receipt.total == 21)
        #expect(try connection.query("SELECT FROM \(sql: Erasure.table)").count == 21)
        #expect(try events(database) == 0)
        try database.expectGateHolds()
        // The moment has moved behind them: none of them comes back.
        #expect(try appender.append([app.submission(news)])[0].map(\.reason) == news.map { _ in .erased })
        let after = Event.sample(at: Self.later + 3, install: Self.install)
        #expect(try appender.append([app.submission([after])]) == [[.accepted]])
    }

    @Test("an install that is used again can be erased again")
    func again() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        #expect(try database.erase(Self.install, of: app).total == 18)
        let appender = try database.appender()
        #expect(
            try appender.append([app.submission([Event.sample(at: Self.later, install: Self.install)])])
                == [[.accepted]])
        var connection = try database.session(nil)
        let first = try connection.query("SELECT erased_at FROM log.erasure")[0].get(0, as: Timestamp.self)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        #expect(erasure.erasedAt > first && erasure.number == 6)
        #expect(try Erasure.unfinished(on: &connection) == [erasure])
        #expect(try erasure.finish(on: &connection).total == 1)
        #expect(try events(database) == 0)
        #expect(try connection.query("SELECT FROM log.erasure").count == 1)
        try database.expectGateHolds()
        // And once more, with nothing left of it, in the same session.
        #expect(try database.erase(Self.install, of: app).events.isEmpty)
        #expect(try Erasure.begin(app: app.id, install: Self.install, on: &connection).erasedAt > Self.later)
    }

    @Test(
        "what was refused of it goes, with the install named by the event itself too, and reports of drops stay without it"
    )
    func besideEvents() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        func refused(_ raw: String, of install: UUID?) -> RejectedEvent {
            RejectedEvent(id: nil, install: install, rejection: Rejection(.unknownType, "type: none"), raw: raw)
        }
        let drops = (1...2).map { ClientDrop(id: .random(), count: Int64($0), since: nil, reason: .size) }
        let (mine, others) = (Event.sample(install: Self.install), Event.sample())
        _ = try database.appender().append([
            app.submission([mine], rejected: [refused("mine", of: nil), refused("named", of: UUID(high: 1, low: 1))]),
            app.submission([others], rejected: [refused("its own", of: Self.install), refused("theirs", of: nil)]),
            app.submission([mine], drops: [drops[0]]), app.submission([others], drops: [drops[1]]),
        ])
        let receipt = try database.erase(Self.install, of: app)
        #expect(receipt.rejected == 2 && receipt.clientDrops == 1 && receipt.total == 19)
        #expect(try database.column("SELECT raw FROM log.rejected ORDER BY raw") == ["named", "theirs"])
        #expect(
            try database.column("SELECT install_id FROM log.client_drop WHERE install_id IS NOT NULL")
                == [others.source.installID])
        #expect(try database.value("SELECT sum(count)::bigint FROM log.client_drop", as: Int64.self) == 3)
    }

    @Test("an erasure that is rolled back takes nothing, and is finished by beginning again")
    func rolledBack() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        let findings = try erasure.findEvents(on: &connection)
        try connection.execute(script: "BEGIN")
        #expect(try erasure.deleteEvents(findings, on: &connection).total == 18)
        // The gate is shut behind it, for the rest of its transaction too.
        let error = #expect(throws: PostgresError.self) { try connection.execute(script: "DELETE FROM log.event") }
        #expect(error?.description.contains("the log is append-only") == true)
        connection.rollBack()
        #expect(try events(database) == 18)
        #expect(try Erasure.unfinished(on: &connection) == [erasure])
        try database.expectGateHolds()
        #expect(try database.erase(Self.install, of: app).total == 18)
        #expect(try Erasure.unfinished(on: &connection) == [])
        try database.expectGateHolds()
    }

    @Test("it says no to a transaction that does not see what it waited for")
    func isolation() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        var connection = try database.session(nil)
        try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
        let error = #expect(throws: PostgresError.self) {
            try connection.query("SELECT log.begin_erasure(\(app.id), \(Self.install))")
        }
        #expect(error?.description.contains("READ COMMITTED") == true)
    }

    @Test("beside retention each event is taken off its batch once, whichever comes first", arguments: 0..<4)
    func besideRetention(step: Int) throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let january = TestDatabase.month(2011, 1)
        var connection = try database.session(nil)
        func erase(at place: Int) throws {
            guard place == step else { return }
            #expect(try database.erase(Self.install, of: app).total == (step < 3 ? 18 : 12))
            try database.expectGateHolds()
        }
        try erase(at: 0)
        try database.close(january)
        try erase(at: 1)
        try Retention.recordLosses(of: january, on: &connection)
        try erase(at: 2)
        #expect(try Retention.drop(january, until: .after(seconds: 60), on: &connection) == .dropped)
        try database.expectGateHolds()
        try erase(at: 3)
        #expect(try LogStatus.read(on: &connection).events == 48)
    }

    @Test("a month that was dropped between finding and deleting is no obstacle")
    func droppedMeanwhile() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        let findings = try erasure.findEvents(on: &connection)
        try database.retain(TestDatabase.month(2011, 1))
        let receipt = try connection.transaction { connection throws(PostgresError) in
            try erasure.deleteEvents(findings, on: &connection)
        }
        #expect(receipt.events.map(\.month) == [TestDatabase.month(2011, 2), TestDatabase.month(2011, 3)])
        try database.expectGateHolds()
    }
}
