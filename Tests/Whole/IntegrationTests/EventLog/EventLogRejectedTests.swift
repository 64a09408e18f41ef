import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Rejected events and client drops are kept")
struct EventLogRejectedTests {
    private static let day: Int64 = 86_400_000_000

    private func refused(_ raw: String, _ reason: RejectionReason = .unknownType) -> RejectedEvent {
        RejectedEvent(id: nil, rejection: Rejection(reason, "type: no such type"), raw: raw)
    }

    private func kept(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT raw FROM log.rejected ORDER BY id")
    }

    private func counted(_ database: TestDatabase) throws -> Int64 {
        try database.value("SELECT coalesce(sum(n.value::int), 0) FROM log.batch_tally, jsonb_each_text(rejected) AS n")
    }

    @Test("with all that a replay needs")
    func columns() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let id = UUID.random()
        let event = RejectedEvent(
            id: id, rejection: Rejection(.invalidField, "seq: must be 0 to 2^53"), raw: "{\"seq\":-1}")
        _ = try database.appender().append([
            app.submission(
                [], rejected: [event, refused("2")], sentAt: Event.sampleTime + -5, source: "{\"platform\":\"ios\"}")
        ])
        var connection = try database.connect()
        let stored = try RejectedEvents.list(RejectionFilter(), on: &connection)
        #expect(stored.map(\.raw) == ["2", "{\"seq\":-1}"] || stored.map(\.raw) == ["{\"seq\":-1}", "2"])
        let first = try #require(stored.first { $0.raw != "2" })
        #expect(first.slug == "chat" && first.app == app.app.id && first.key == app.key.id && first.keyName == "write")
        #expect(first.receivedAt == Event.sampleTime && first.sentAt == Event.sampleTime + -5)
        #expect(first.reason == "invalid_field" && first.detail == "seq: must be 0 to 2^53")
        #expect(first.source == "{\"platform\":\"ios\"}" && first.replayedAt == nil)
        let row = try connection.query(
            "SELECT app, key, event_id, batch, rejection, replayed_at IS NULL FROM analytics.rejected_events WHERE raw <> '2'"
        )[0]
        #expect(try row.get(0) == "chat")
        #expect(try row.get(1) == "write")
        #expect(try row.get(2) == id)
        #expect(try row.get(3, as: Int64.self) == 1)
        #expect(try row.get(4) == first.id)
        #expect(try row.get(5) == true)
    }

    @Test("once for the same raw of an app, and each time in the count")
    func once() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender()
        _ = try appender.append([app.submission([], rejected: [refused("a"), refused("a"), refused("b")])])
        _ = try appender.append([
            app.submission([], rejected: [refused("a")]), other.submission([], rejected: [refused("a")]),
        ])
        #expect(try kept(database).sorted() == ["a", "a", "b"])
        #expect(try database.value("SELECT count(DISTINCT app) FROM log.rejected WHERE raw = 'a'", as: Int64.self) == 2)
        #expect(try counted(database) == 5)
    }

    @Test("only so many a day of one app, and all are counted")
    func boundedByRows() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender(allowance: RejectedAllowance(rowsPerDay: 2))
        _ = try appender.append([app.submission([], rejected: ["a", "b", "c"].map { refused($0) })])
        _ = try appender.append([
            app.submission([], rejected: [refused("d")]), other.submission([], rejected: [refused("e")]),
        ])
        #expect(try kept(database) == ["a", "b", "e"] || kept(database) == ["b", "a", "e"])
        #expect(try counted(database) == 5)
        // The next day has an allowance of its own.
        _ = try appender.append([app.submission([], rejected: [refused("f")], receivedAt: Event.sampleTime + Self.day)])
        #expect(try kept(database).last == "f")
    }

    @Test("an envelope that brings nothing but drop reports has them stored")
    func dropsAlone() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let drop = ClientDrop(id: .random(), count: 1, since: nil, reason: .size)
        #expect(try database.appender().append([app.submission([], drops: [drop])]) == [[]])
        #expect(try database.column("SELECT drop_id FROM analytics.client_drops WHERE batch = 1") == [drop.id])
    }

    @Test("only so many bytes a day of one app")
    func boundedByBytes() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender(allowance: RejectedAllowance(bytesPerDay: 64))
        _ = try appender.append([app.submission([], rejected: ["éé", "123456", "7", ""].map { refused($0) })])
        #expect(try kept(database).sorted() == ["", "123456", "éé"])
        // Each costs its raw and the 18 bytes of its detail. A process that starts anew asks the log what it holds, in
        // bytes too.
        let next = try database.appender(allowance: RejectedAllowance(bytesPerDay: 83))
        _ = try next.append([app.submission([], rejected: ["89", "0"].map { refused($0) })])
        #expect(try kept(database).sorted() == ["", "0", "123456", "éé"])
        #expect(try counted(database) == 6)
    }

    @Test("a client that repeats one bad event does not use up the room for others")
    func repeatsAreFree() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender(allowance: RejectedAllowance(rowsPerDay: 2))
        for _ in 1...4 {
            _ = try appender.append([app.submission([], rejected: [refused("again"), refused("again")])])
        }
        _ = try appender.append([app.submission([], rejected: [refused("news")])])
        #expect(try kept(database) == ["again", "news"])
        #expect(try counted(database) == 9)
    }

    @Test("a batch that did not commit has used up nothing")
    func failuresAreFree() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender(allowance: RejectedAllowance(rowsPerDay: 1))
        var owner = try database.connect()
        try owner.execute(script: "ALTER TABLE log.batch RENAME TO batch_away")
        #expect(throws: PostgresError.self) { try appender.append([app.submission([], rejected: [refused("a")])]) }
        try owner.execute(script: "ALTER TABLE log.batch_away RENAME TO batch")
        _ = try appender.append([app.submission([], rejected: [refused("b")])])
        #expect(try kept(database) == ["b"])
    }

    @Test("the list is filtered by app, reason, number and replay, newest first, or onwards from a row")
    func list() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender()
        for (place, raw) in ["a", "b", "c", "d"].enumerated() {
            _ = try appender.append([
                (raw == "d" ? other : app).submission(
                    [], rejected: [refused(raw, place == 1 ? .invalidID : .unknownType)])
            ])
        }
        var connection = try database.connect()
        func raws(_ change: (inout RejectionFilter) -> Void) throws -> [String] {
            var filter = RejectionFilter()
            change(&filter)
            return try RejectedEvents.list(filter, on: &connection).map(\.raw)
        }
        #expect(try raws { _ in } == ["d", "c", "b", "a"])
        #expect(try raws { $0.limit = 2 } == ["d", "c"])
        #expect(try raws { $0.app = "chat" } == ["c", "b", "a"])
        #expect(try raws { $0.reason = "invalid_id" } == ["b"])
        let ids = try RejectedEvents.list(RejectionFilter(), on: &connection).map(\.id)
        #expect(try raws { $0.ids = [ids[0], ids[3]] } == ["d", "a"])
        #expect(try raws { $0.ids = [] } == [])
        #expect(try raws { $0.after = ids[3] } == ["b", "c", "d"])
        try RejectedEvents.markReplayed([ids[1]], on: &connection)
        #expect(try raws { _ in } == ["d", "b", "a"])
        #expect(try raws { $0.includingReplayed = true } == ["d", "c", "b", "a"])
        #expect(try LogStatus.read(on: &connection).rejected == 3)
    }

    @Test("a drop report is counted once, by its id and app")
    func drops() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender()
        let event = Event.sample()
        let drops = [
            ClientDrop(id: .random(), count: 12, since: Event.sampleTime, reason: .age),
            ClientDrop(id: .random(), count: Int64.max, since: nil, reason: .unreadable),
        ]
        _ = try appender.append([app.submission([event], drops: drops + drops), app.submission([], drops: drops)])
        _ = try appender.append([
            app.submission([event], drops: drops.reversed()), other.submission([], drops: [drops[0]]),
        ])
        var connection = try database.connect(as: TestPostgres.analyst)
        let rows = try connection.query(
            "SELECT app, drop_id, count, since, reason, install_id, key, batch, received_at FROM client_drops ORDER BY app, count"
        )
        #expect(rows.count == 3)
        #expect(try rows.map { try $0.get(0, as: String.self) } == ["chat", "chat", "other"])
        #expect(try rows.map { try $0.get(1, as: UUID.self) } == [drops[0].id, drops[1].id, drops[0].id])
        #expect(try rows.map { try $0.get(2, as: Int64.self) } == [12, .max, 12])
        #expect(try rows.map { try $0.optional(3, as: Timestamp.self) } == [Event.sampleTime, nil, Event.sampleTime])
        #expect(try rows.map { try $0.get(4, as: String.self) } == ["age", "unreadable", "age"])
        #expect(try rows[0].get(5) == event.source.installID)
        #expect(try rows[2].optional(5, as: UUID.self) == nil)
        #expect(try rows.map { try $0.get(7, as: Int64.self) } == [1, 1, 2])
        #expect(try rows[0].get(8) == Event.sampleTime)
    }
}
