import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("What retention promises of N days, whoever sends what")
struct RetentionPromiseTests {
    private static let january = TestDatabase.month(2025, 1)

    /// Ready to be told of events made by hand.
    private func makeShops() throws -> (shops: ProjectedShops, app: TestApp) {
        let database = try TestDatabase.make()
        let app = try database.makeApp()
        for month in 1...4 { try database.make(TestDatabase.month(2025, month)) }
        return (try ProjectedShops(none: database), app)
    }

    private func event(
        at: Timestamp, receivedAt: Timestamp, notification: String = "one", install: UUID = .random(),
        interaction: Interaction = .received(Receipt(via: .serviceExtension))
    ) -> Event {
        var event = Event.sample(
            at: at, occurredAt: receivedAt, receivedAt: receivedAt, timeSource: .corrected, install: install,
            interaction: interaction)
        event.notification.id = notification
        return event
    }

    @Test("a late event keeps a month for N days more, and never for longer")
    func trickle() throws {
        let (shops, app) = try makeShops()
        defer { shops.database.drop() }
        // One comes each day, of a time in January.
        func come(_ month: Int, _ day: Int) throws -> Verdict? {
            let late = Event.sample(
                at: TestDatabase.noon(2025, 1, 7) + Int64(month * 100 + day),
                receivedAt: TestDatabase.noon(2025, month, day))
            return try shops.append(app.submission([late]))[0].first
        }
        for (month, day) in [(1, 8), (3, 4), (3, 31)] { #expect(try come(month, day) == .accepted) }
        // January was over for 59 days, then for 61.
        #expect(try !shops.retain(days: 30, now: TestDatabase.noon(2025, 3, 31)).map(\.month).contains(Self.january))
        #expect(try come(4, 1) == .accepted)
        let outcomes = try shops.retain(days: 30, now: TestDatabase.noon(2025, 4, 2))
        #expect(outcomes.map(\.month) == [Self.january] && outcomes.map(\.isDropped) == [true])
        #expect(outcomes.map(\.sealed) == [4])
        #expect(try come(4, 2)?.reason == .tooOld)
        try shops.expectLasting()
    }

    @Test("not even an event that comes while its month is closed keeps one that has waited long enough")
    func trickleWhileClosing() throws {
        let (shops, app) = try makeShops()
        defer { shops.database.drop() }
        func late() -> Event {
            Event.sample(at: TestDatabase.noon(2025, 1, 7), receivedAt: TestDatabase.noon(2025, 5, 1))
        }
        let first = Event.sample(at: TestDatabase.noon(2025, 1, 8))
        try shops.append(app.submission([first, late()]))
        var connection = try shops.database.session(nil)
        let standings = try Retention.standings(olderThan: 30, now: TestDatabase.noon(2025, 5, 2), on: &connection)
        let found = standings.compactMap(\.candidate)
        #expect(found.map(\.month) == [1, 2, 3].map { TestDatabase.month(2025, $0) })
        #expect(found.map(\.lookedAt) == [nil, 1, 1])
        try shops.append(app.submission([late()]))
        #expect(try Retention.close(found[0], on: &connection) == 2)
    }

    @Test("old events that are brought in now stay for N days, although their month is long over")
    func imported() throws {
        let (shops, app) = try makeShops()
        defer { shops.database.drop() }
        try shops.append(
            app.submission([Event.sample(at: TestDatabase.noon(2025, 1, 7), receivedAt: TestDatabase.noon(2025, 9, 7))])
        )
        func months(_ month: Int, _ day: Int) throws -> [CivilDate] {
            try shops.retain(days: 30, now: TestDatabase.noon(2025, month, day)).map(\.month)
        }
        #expect(try months(10, 5) == [2, 3, 4].map { TestDatabase.month(2025, $0) })
        #expect(try months(10, 8) == [Self.january])
    }

    @Test("events whose clock belongs to no month go N days after their receipt, and the funnels stay as they are")
    func strays() throws {
        let (shops, app) = try makeShops()
        let database = shops.database
        defer { database.drop() }
        let (install, other) = (UUID.random(), UUID.random())
        let old = TestDatabase.noon(2025, 3, 1)
        let new = TestDatabase.noon(2025, 4, 28)
        let clock = TestDatabase.noon(2007, 1, 1)
        let first = event(at: clock, receivedAt: old, notification: "old", install: install)
        try shops.append(
            app.submission([
                first,
                event(at: TestDatabase.noon(2150, 1, 1), receivedAt: old, notification: "ahead", install: install),
                event(at: clock, receivedAt: old, notification: "both", install: install),
                event(at: clock + 1, receivedAt: new, notification: "new", install: other),
            ]))
        try shops.append(
            app.submission([
                event(
                    at: new, receivedAt: new, notification: "both", install: install,
                    interaction: .opened(launch: .cold))
            ]))
        let days = [TestDatabase.month(2025, 1), TestDatabase.month(2025, 2)]
        // Retention brings the funnels level by itself.
        let remainder = try RetentionRun(shops.control).run(days: 30, now: TestDatabase.noon(2025, 5, 1)) { outcome in
            #expect(days.contains(outcome.month) || outcome.month == TestDatabase.month(2025, 3))
        }
        #expect(remainder.strays == 3 && remainder.sealed == 3)
        try database.expectGateHolds()
        let left: [String] = try database.column(
            "SELECT notification_id FROM analytics.events WHERE device_at < '2025-01-01' OR device_at > '2026-01-01'")
        #expect(left == ["new"])
        #expect(try database.column("SELECT notification_key FROM analytics.deliveries") == ["new"])
        func delivered() throws -> Int64 {
            try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel")
        }
        #expect(try delivered() == 4)
        try shops.expectLasting()
        // What is sealed and still has an event counts no more; of the others nothing is remembered, and they count
        // anew.
        #expect(try database.column("SELECT notification_key FROM projection.sealed_delivery") == ["both"])
        #expect(
            try shops.append(
                app.submission([event(at: new + 5, receivedAt: new, notification: "both", install: install), first]))[0]
                == [.accepted, .accepted])
        try shops.project()
        #expect(try delivered() == 5)
        try shops.expectLasting()
        // Once more nothing is left to do.
        let again = try RetentionRun(shops.control).run(days: 30, now: TestDatabase.noon(2025, 5, 1)) { _ in }
        #expect(again.strays == 1 && again.sealed == 1)
        #expect(try RetentionRun(shops.control).run(days: 30, now: TestDatabase.noon(2025, 5, 1)) { _ in }.isEmpty)
        #expect(try delivered() == 5)
        try shops.expectLasting()
    }

    @Test("of two events with one hash the one that stays is still found")
    func strayTwins() throws {
        let (shops, app) = try makeShops()
        let database = shops.database
        defer { database.drop() }
        let (install, clock) = (UUID.random(), TestDatabase.noon(2007, 1, 1))
        var connection = try database.session(nil)
        let twins = try HashTwins(install: install, app: app.id, on: &connection)
        func twin(_ number: UInt32, _ receivedAt: Timestamp) -> Event {
            Event.sample(id: twins.id(number, hash: 0x5_0000), at: clock, receivedAt: receivedAt, install: install)
        }
        let events = [twin(1, TestDatabase.noon(2025, 3, 1)), twin(2, TestDatabase.noon(2025, 4, 28))]
        let appender = try database.appender()
        for event in events { #expect(try appender.append([app.submission([event])]) == [[.accepted]]) }
        #expect(try database.column("SELECT codes & 15 FROM log.event_elsewhere ORDER BY 1") == [0, 1] as [Int32])
        let limit = TestDatabase.noon(2025, 4, 1)
        #expect(try Strays.find(receivedBefore: limit, on: &connection).events == 1)
        #expect(try Strays.drop(most: 1, on: &connection) == 1)
        #expect(try database.column("SELECT codes & 15 FROM log.event_elsewhere") == [0] as [Int32])
        #expect(try database.appender().append([app.submission([events[1]])]) == [[.duplicate]])
        #expect(try database.appender().append([app.submission([events[0]])]) == [[.accepted]])
        try database.expectGateHolds()
    }

    @Test("what was refused goes N days after its receipt, and reports of dropped events no longer name the install")
    func refused() throws {
        let (shops, app) = try makeShops()
        let database = shops.database
        defer { database.drop() }
        let sample = Event.sample(at: TestDatabase.noon(2025, 4, 1))
        for (month, raw) in [(3, "old"), (4, "new")] {
            let drop = ClientDrop(id: .random(), count: 3, since: nil, reason: .age)
            try shops.append(
                app.submission(
                    month == 3 ? [sample] : [],
                    rejected: [
                        RejectedEvent(
                            id: nil, install: sample.source.installID, rejection: Rejection(.unknownType, "type"),
                            raw: raw)
                    ],
                    drops: [drop], receivedAt: TestDatabase.noon(2025, month, 20)))
        }
        let now = TestDatabase.noon(2025, 4, 25)
        let remainder = try RetentionRun(shops.control).run(days: 30, now: now) { _ in }
        #expect(remainder.refused == 1 && remainder.strays == 0)
        #expect(try database.column("SELECT raw FROM log.rejected") == ["new"])
        #expect(
            try database.value(
                "SELECT count(*) FROM log.client_drop WHERE install_id IS NULL AND received_at < '2025-04-01'",
                as: Int64.self) == 1)
        #expect(try database.value("SELECT sum(rejected)::bigint FROM analytics.batches", as: Int64.self) == 2)
        #expect(try database.value("SELECT sum(count)::bigint FROM analytics.client_drops", as: Int64.self) == 6)
    }
}
