import CatalogueSupport
import Envelopes
import EventLog
import Ingestion
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("What was taken from the log does not come back")
struct EventLogLossTests {
    private static let install = UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)
    private static let later = TestDatabase.noon(2200, 1, 1)
    private static let january = TestDatabase.month(2011, 1)

    private func noon(_ month: Int, _ day: Int) -> Timestamp { TestDatabase.noon(2011, month, day) }

    private func makeDatabase() throws -> (database: TestDatabase, app: TestApp) {
        let database = try TestDatabase.make()
        for month in [1, 2] { try database.make(TestDatabase.month(2011, month)) }
        return (database, try database.makeApp())
    }

    /// What was counted as rejected, by reason.
    private func counted(_ database: TestDatabase) throws -> [String] {
        try database.column(
            """
            SELECT reason || ' ' || sum(n::integer) FROM log.batch_tally, jsonb_each_text(rejected) AS r (reason, n)
            GROUP BY reason ORDER BY reason
            """)
    }

    @Test("events of a closed month and of an erased install from before are refused, and no other event of the batch")
    func refused() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let other = try database.makeApp("other")
        try database.close(Self.january)
        try database.erase(Self.install, of: app)
        let events = [
            Event.sample(at: noon(2, 1)), Event.sample(at: noon(1, 31)),
            Event.sample(at: noon(2, 2), install: Self.install), Event.sample(at: noon(1, 1), install: Self.install),
            Event.sample(at: Self.later, install: Self.install), Event.sample(at: noon(3, 1)),
            // The device's clock decides on the month, what we make of it on before and after.
            Event.sample(at: noon(1, 9), occurredAt: noon(2, 9)), Event.sample(at: noon(2, 9), occurredAt: noon(1, 9)),
            Event.sample(at: noon(2, 3), occurredAt: Self.later, install: Self.install),
            Event.sample(at: Self.later, occurredAt: noon(2, 3), install: Self.install),
        ]
        let reasons: [RejectionReason?] = [
            nil, .tooOld, .erased, .erased, nil, nil, .tooOld, nil, nil, .erased,
        ]
        let appender = try database.appender()
        let verdicts = try appender.append([
            app.submission(events), other.submission([Event.sample(at: noon(2, 2), install: Self.install)]),
        ])
        #expect(verdicts[0].map(\.reason) == reasons && verdicts[1] == [.accepted])
        #expect(verdicts[0].filter { $0 == .accepted }.count == 5)
        guard case .rejected(let tooOld) = verdicts[0][1], case .rejected(let erased) = verdicts[0][2] else { return }
        #expect(tooOld.detail == "at: the events of 2011-01 have been removed, and no more are accepted")
        #expect(erased.detail.hasPrefix("source.install_id: this install was erased at 20"))
        #expect(try counted(database) == ["erased 3", "too_old 2"])
        #expect(try database.column("SELECT raw FROM log.rejected ORDER BY raw") == ["{\"place\":1}", "{\"place\":6}"])
        try database.expectGateHolds()

        // Alone in a batch as well: then it is one that only tells.
        #expect(try appender.append([app.submission([events[2]])])[0].map(\.reason) == [.erased])
        #expect(appender.lastBatch?.events == 0)
        #expect(try counted(database) == ["erased 4", "too_old 2"])
    }

    @Test("the first microsecond after a closed month is taken, and months in a row are as closed as single ones")
    func edges() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        for month in [4, 6] { try database.make(TestDatabase.month(2011, month)) }
        for month in [2, 6, 1, 4] { try database.close(TestDatabase.month(2011, month)) }
        let half: Int64 = 43_200_000_000
        let times = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)].flatMap { month, day in
            [noon(month, day) + (-half - 1), noon(month, day) + -half]
        }
        let verdicts = try database.appender().append([app.submission(times.map { Event.sample(at: $0) })])[0]
        // In pairs: the last microsecond of the month before, the first one of the month.
        #expect(
            verdicts.map { $0.reason == nil } == [
                true, false, false, false, false, true, true, false, false, true, true, false, false, true,
            ])
    }

    @Test("a repeat is a duplicate while its first copy is there, and refused when that is gone")
    func repeats() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let old = Event.sample(at: noon(1, 5))
        let mine = Event.sample(at: noon(2, 5), install: Self.install)
        let fresh = [Event.sample(at: noon(1, 6)), Event.sample(at: noon(2, 6), install: Self.install)]
        let appender = try database.appender()
        func answers(_ events: [Event]) throws -> [Verdict] {
            let verdicts = try appender.append([app.submission(events), app.submission(events)])
            // Whatever the first copy is, the second is no news.
            #expect(zip(verdicts[0], verdicts[1]).allSatisfy { $0 == $1 || $0 == .accepted && $1 == .duplicate })
            return verdicts[0]
        }
        #expect(try answers([old, mine]) == [.accepted, .accepted])
        try database.close(Self.january)
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        let between = try answers([old, mine] + fresh)
        #expect(between.map(\.reason) == [nil, nil, .tooOld, .erased])
        #expect(between[0] == .duplicate && between[1] == .duplicate)
        try database.retain(Self.january)
        #expect(try erasure.finish(on: &connection).total == 1)
        #expect(try answers([old, mine] + fresh).map(\.reason) == [.tooOld, .erased, .tooOld, .erased])
        // Twelve events in pairs, of which two were stored and six were known.
        let row = try connection.query("SELECT sum(accepted)::bigint, sum(duplicate)::bigint FROM log.batch_tally")[0]
        #expect(try row.get(0) == Int64(2) && row.get(1) == Int64(6))
        #expect(try counted(database) == ["erased 6", "too_old 6"])
        try database.expectGateHolds()
    }

    @Test("of an erased install nothing refused is kept, whatever the reason, and a report of drops does not name it")
    func notKept() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        try database.erase(Self.install, of: app)
        // Room for one: what is not kept takes none.
        let appender = try database.appender(allowance: RejectedAllowance(rowsPerDay: 1))
        func refused(_ raw: String, of install: UUID? = nil) -> RejectedEvent {
            RejectedEvent(id: nil, install: install, rejection: Rejection(.unknownType, "type: none"), raw: raw)
        }
        let mine = Event.sample(at: Self.later, install: Self.install)
        let drop = ClientDrop(id: .random(), count: 12, since: nil, reason: .age)
        let verdicts = try appender.append([
            app.submission([mine], rejected: [refused("of the envelope's")], drops: [drop]),
            app.submission([Event.sample(at: noon(2, 1), install: Self.install)]),
            app.submission(
                [Event.sample(at: noon(2, 1))], rejected: [refused("its own", of: Self.install), refused("kept")]),
        ])
        #expect(verdicts.map { $0.map(\.reason) } == [[nil], [.erased], [nil]])
        #expect(try database.column("SELECT raw FROM log.rejected") == ["kept"])
        #expect(try counted(database) == ["erased 1", "unknown_type 3"])
        #expect(try database.column("SELECT count FROM log.client_drop WHERE install_id IS NULL") == [Int64(12)])
    }

    @Test("an event of an erased install whose time nobody knows may be from before, and is refused")
    func clamped() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let ahead = Event.sample(
            at: Self.later, occurredAt: noon(2, 1), timeSource: .clamped, install: Self.install)
        let appender = try database.appender()
        #expect(try appender.append([app.submission([ahead])]) == [[.accepted]])
        try database.erase(Self.install, of: app)
        var again = ahead
        again.occurredAt = Self.later
        #expect(try appender.append([app.submission([again])])[0].map(\.reason) == [.erased])
    }

    @Test("a writer that has not heard of it is turned back under the head's lock, and then answers as the others do")
    func stale() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        let appenders = try (0..<2).map { try database.appender(node: "node-\($0)") }
        let install = UUID.random()
        for (place, appender) in appenders.enumerated() {
            _ = try appender.append([
                app.submission([
                    Event.sample(at: noon(1, 3) + Int64(place)), Event.sample(at: noon(2, 3), install: install),
                ])
            ])
        }
        let repeated = Event.sample(at: noon(1, 4))
        _ = try appenders[0].append([app.submission([repeated])])
        try database.close(Self.january)
        try database.erase(install, of: app)
        func refused(_ raw: String) -> RejectedEvent {
            RejectedEvent(id: nil, install: install, rejection: Rejection(.unknownType, "type: none"), raw: raw)
        }
        for appender in appenders {
            let verdicts = try appender.append([
                app.submission(
                    [
                        Event.sample(at: noon(1, 5)), Event.sample(at: noon(2, 5), install: install),
                        Event.sample(at: noon(2, 5)), repeated,
                    ], rejected: [refused("a"), refused("b")],
                    drops: [ClientDrop(id: .random(), count: 1, since: nil, reason: .size)])
            ])[0]
            #expect(verdicts.map(\.reason) == [.tooOld, .erased, nil, nil])
            #expect(verdicts[2...] == [.accepted, .duplicate])
        }
        #expect(try database.column("SELECT reason FROM log.rejected") == ["too_old"])
        #expect(try counted(database) == ["erased 2", "too_old 2", "unknown_type 4"])
        // The drop report came with an envelope of another install; the erased one is named nowhere.
        let tables = ["event", "rejected", "client_drop"]
        for table in tables {
            #expect(
                try database.value(
                    "SELECT count(*) FROM log.\(identifier: table) WHERE install_id = \(install)", as: Int64.self) == 0)
        }
        try database.expectGateHolds()
    }

    @Test("an event that PostgreSQL refuses does not stand in the way of those refused before it")
    func besidePoison() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        var owner = try database.connect()
        try owner.execute(script: "ALTER TABLE log.event ADD CONSTRAINT no_seven CHECK (seq <> 7)")
        try database.close(Self.january)
        try database.erase(Self.install, of: app)
        let stored = Event.sample(at: noon(2, 1))
        _ = try database.appender().append([app.submission([stored])])
        var events = (0..<24).map { place in
            Event.sample(at: noon(place % 3 == 0 ? 1 : 2, 10), install: place % 4 == 1 ? Self.install : .random())
        }
        events[5].seq = 7
        events[11].seq = 7
        events[14].seq = 7
        events[20] = stored
        let reasons: [RejectionReason?] = events.indices.map { place in
            place % 4 == 1
                ? .erased
                : place % 3 == 0 ? (place == 20 ? nil : .tooOld) : [11, 14].contains(place) ? .unstorable : nil
        }
        let verdicts = try database.appender().append([app.submission(events)])[0]
        #expect(verdicts.map(\.reason) == reasons)
        #expect(verdicts[20] == .duplicate)
        #expect(try counted(database) == ["erased 6", "too_old 6", "unstorable 2"])
        try database.expectGateHolds()
    }

    @Test("a refused event that is replayed when its install was erased stays out, and is not kept again")
    func replay() throws {
        let (database, app) = try makeDatabase()
        defer { database.drop() }
        func refused(_ install: UUID, at time: String, place: Int) -> RejectedEvent {
            RejectedEvent(
                id: nil, install: install, rejection: Rejection(.unknownType, "type: was none then"),
                raw: """
                    {"id":"\(UUID(high: 1, low: UInt64(place)))","type":"notification.opened","at":"\(time)",
                    "notification":{"id":"n"},"source":{"install_id":"\(install)"}}
                    """)
        }
        _ = try database.appender().append([
            app.submission(
                [],
                rejected: [
                    refused(Self.install, at: "2011-02-03T12:00:00Z", place: 1),
                    refused(.random(), at: "2011-02-03T12:00:00Z", place: 2),
                    refused(.random(), at: "2011-01-03T12:00:00Z", place: 3),
                ], receivedAt: noon(2, 4))
        ])
        // Between the beginning and the end of the erasure it can still be read.
        var connection = try database.session(nil)
        let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
        try database.close(Self.january)
        var replay = Replay(appender: try database.appender(node: "replay"))
        let outcome = try replay.run(RejectionFilter(), on: &connection)
        #expect(outcome.accepted == 1 && outcome.rejected == 2 && outcome.duplicate == 0)
        #expect(try erasure.finish(on: &connection).rejected == 1)
        let kept = try RejectedEvents.list(RejectionFilter(), on: &connection)
        #expect(kept.map(\.reason) == ["unknown_type"] && kept[0].raw.contains("2011-01-03"))
        #expect(
            try database.value(
                "SELECT count(*) FROM log.event WHERE install_id = \(Self.install)", as: Int64.self) == 0)
    }
}
