import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The report of a day")
struct ReportReaderTests {
    /// A Friday.
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!

    @Test("sums the quality of what came on the day over all keys, and refusals by reason, the most frequent first")
    func quality() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop", timeZone: "Asia/Kolkata")
        var connection = try database.connect()
        let second = try APIKeys.add(to: "shop", kind: .write, name: "second", on: &connection).key
        func refused(_ reason: RejectionReason, _ raw: String) -> RejectedEvent {
            RejectedEvent(id: nil, rejection: Rejection(reason, ""), raw: raw)
        }
        // Midnight in Kolkata.
        let start = Self.day.start.later(minutes: -330)
        let event = Event.sample(at: start, receivedAt: start)
        let absurd = ClientDrop(id: .random(), count: .max, since: nil, reason: .age)
        let appender = try database.appender()
        _ = try appender.append([
            app.submission([event], rejected: [refused(.tooOld, "0")], receivedAt: start.later(seconds: -1)),
            app.submission(
                [event, .sample(at: start, receivedAt: start, timeSource: .clamped)],
                rejected: [refused(.unknownType, "1"), refused(.invalidID, "2")], drops: [absurd], receivedAt: start),
            Submission(
                app: app.id, key: second.id, receivedAt: start.later(hours: 23, minutes: 59),
                events: [.sample(at: start, receivedAt: start)], rejected: [refused(.invalidID, "3")],
                drops: [ClientDrop(id: .random(), count: 1, since: nil, reason: .age)]),
            app.submission([.sample(at: start)], receivedAt: start.later(hours: 24)),
        ])
        var analyst = try database.connect(as: TestPostgres.analyst)
        let report = try ReportReader(app: "shop", period: .day(Self.day), now: start.later(hours: 30)).read(
            on: &analyst)
        var expected = Quality()
        (expected.accepted, expected.duplicate, expected.rejected) = (2, 1, 3)
        expected.rejectedByReason = [.init(reason: "invalid_id", events: 2), .init(reason: "unknown_type", events: 1)]
        (expected.clamped, expected.clientDropped) = (1, .max)
        #expect(report.quality == expected)
        // Nothing was projected: the funnels are those of an empty log.
        #expect(report.position == 0)
        #expect(report.headline.counts == FunnelCounts())
        #expect(!report.isEmpty)
    }

    @Test("has 24 hours and nothing else of a day without events")
    func empty() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let history = try ReportedHistory(timeZone: "Europe/Berlin", in: database)
        let now = Self.day.start.later(hours: 12)
        let report = try history.report(of: Self.day, now: now)
        var expected = Report(
            app: "shop", period: .day(Self.day), timeZone: "Europe/Berlin", position: 0, madeAt: now,
            headline: Headline(counts: FunnelCounts()),
            settling: Settling(hoursSinceEnd: -11, share: nil, events: 0, hoursTo95: nil, hoursTo99: nil))
        expected.hours = (0..<24).map { Hour(hour: $0, response: Rate(0, of: 0)) }
        expected.trend = (0...28).map {
            TrendPoint(day: Self.day.advanced(by: $0 - 28), counts: FunnelCounts(), isSettled: $0 <= 20)
        }
        #expect(report == expected)
        #expect(report.isEmpty)
    }

    @Test("lies between the midnights of the app's time zone, and its hours are those of its clocks")
    func zone() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(timeZone: "Asia/Kolkata", in: database)
        // 18:30 in UTC.
        let midnight = Self.day.start.later(minutes: -330)
        for (install, moment) in [
            (1, midnight.later(seconds: -1)), (2, midnight), (3, midnight.later(minutes: 29)),
            (4, midnight.later(hours: 23, minutes: 59)), (5, midnight.later(hours: 24)),
        ] {
            history.add(
                .received(Receipt(via: .serviceExtension)), moment,
                of: .init(install: UInt64(install), notification: history.notification()))
        }
        _ = try history.store()
        let report = try history.report(of: Self.day, now: midnight.later(hours: 25, minutes: 59))
        #expect(report.timeZone == "Asia/Kolkata")
        #expect(report.headline.counts.delivered == 3)
        #expect(report.headline.previous?.delivered == 1)
        #expect(report.hours.map(\.response.whole) == [2] + [Int64](repeating: 0, count: 22) + [1])
        // The one of the day before came in at midnight.
        #expect(report.quality.accepted == 4)
        #expect(report.settling.hoursSinceEnd == 1)
        var analyst = try database.connect(as: TestPostgres.analyst)
        for (moment, days) in [(midnight.later(seconds: -1), -2), (midnight, -1), (midnight.later(hours: 24), 0)] {
            let today = try ReportedApp.find("shop", at: moment, on: &analyst).today
            #expect(today == Self.day.advanced(by: days + 1))
        }
    }

    @Test("finds the first opening of deliveries that lasted long, and of phones whose clocks are years off")
    func launches() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        let noon = Self.day.start.later(hours: 12)
        let category = "NEWS"
        func deliver(_ install: UInt64) -> ReportedHistory.Delivery {
            .init(install: install, notification: history.notification(category: category))
        }
        // Opened after nine days, and again.
        let late = deliver(1)
        history.add(.received(Receipt(via: .serviceExtension)), noon, of: late)
        history.add(.opened(launch: .cold), noon.later(hours: 24 * 9), of: late)
        // Opened at once, seen in the list after five days.
        let early = deliver(2)
        history.add(.opened(launch: .warm), noon, of: early)
        history.add(.received(Receipt(via: .deliveredList)), noon.later(hours: 120), of: early)
        // By clocks that jumped: the first opening is the earlier one all the same.
        let jumping = deliver(3)
        history.add(
            .opened(launch: .foreground), noon, of: jumping, deviceAt: Timestamp(microseconds: 4_000_000_000_000_000))
        history.add(
            .opened(launch: .warm), noon.later(hours: 1), of: jumping,
            deviceAt: Timestamp(microseconds: 1_000_000_000_000_000))
        // Of another delivery of the same install and moment.
        let twin = deliver(3)
        history.add(.opened(launch: .warm), noon.later(hours: 1), of: twin)
        _ = try history.store()
        let report = try history.report(of: Self.day, now: noon.later(hours: 24 * 20))
        #expect(
            report.categories.map(\.launches) == [
                [
                    .init(state: "warm", opened: 2), .init(state: "cold", opened: 1),
                    .init(state: "foreground", opened: 1),
                ]
            ])
    }

    @Test("tells how a day settles from a sample of a log that is too long, and the same each time")
    func sampled() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let start = Self.day.advanced(by: -28).start
        // One event in four minutes for 28 days; every fourth comes in the thirtieth hour after the end of its day.
        try database.run(
            """
            SELECT log.make_partition('2026-10-01');
            INSERT INTO log.event (batch_id, device_at, received_at, event_id, install_id, app, codes, notification_key)
            SELECT 1, at,
                CASE WHEN n % 4 = 3 THEN date_trunc('day', at, 'UTC') + interval '53 hours 30 minutes' ELSE at END,
                gen_random_uuid(), gen_random_uuid(), \(app.id), \(Event.codes(of: .notificationReceived)), 'n'
            FROM generate_series(0, 28 * 360 - 1) AS n, LATERAL (
                SELECT timestamptz '\(start)' + n * interval '4 minutes' + interval '7 seconds' AS at) AS moment
            """)
        try app.insert("category_funnel", day: "2026-11-19", ["delivered": 28 * 360])
        var analyst = try database.connect(as: TestPostgres.analyst)
        var reader = ReportReader(app: "shop", period: .day(Self.day), now: Self.day.start.later(hours: 33))
        let whole = try reader.read(on: &analyst).settling
        #expect(whole.events == 28 * 360)
        #expect(whole.share.map { abs($0 - 0.75) < 1e-9 } == true)
        // One minute in seven: 10,080 deliveries are more than six times as many.
        reader.mostDeliveries = 1_600
        let sampled = try reader.read(on: &analyst).settling
        #expect(sampled.events == 4 * 360)
        #expect(sampled.share.map { abs($0 - 0.75) < 0.02 } == true)
        #expect(sampled.hoursTo99 == 30)
        #expect(try reader.read(on: &analyst).settling == sampled)
    }

    @Test("of an app that is not there names those that are")
    func unknownApp() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var analyst = try database.connect(as: TestPostgres.analyst)
        func refusal() -> String? {
            let error = #expect(throws: ReportError.self) {
                _ = try ReportReader(app: "sh\u{1b}op", period: .day(Self.day), now: Self.day.start).read(on: &analyst)
            }
            return error.map { "\($0)" }
        }
        #expect(
            refusal()
                == "no app 'sh\\u{1B}op', and no other app either. Create one with bellwether app create")
        for slug in ["shop", "chat"] { _ = try database.makeApp(slug) }
        #expect(refusal() == "no app 'sh\\u{1B}op'. The apps are chat, shop")
        #expect(try ReportedApp.all(at: Self.day.start, on: &analyst).map(\.slug) == ["chat", "shop"])
        let error = #expect(throws: ReportError.self) {
            _ = try ReportedApp.find("nobody", at: Self.day.start, on: &analyst)
        }
        #expect(error.map { "\($0)".contains("no app 'nobody'") } == true)
        // The connection is fit for the next one.
        let isInTransaction = analyst.isInTransaction
        #expect(!isInTransaction)
    }

    @Test("is not made while the app's deliveries are being moved to the days of another time zone")
    func movingDays() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let history = try ReportedHistory(in: database)
        try database.run(
            """
            INSERT INTO projection.zone (app, time_zone, rules, changes) VALUES (\(history.app.id), 'UTC', '', 1);
            UPDATE log.app SET time_zone = 'Asia/Bangkok';
            """)
        let error = #expect(throws: ReportError.self) { try history.report(of: Self.day, now: Self.day.start) }
        guard case .daysAreMoving("shop", "Asia/Bangkok") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try database.run("UPDATE projection.zone SET made = 1, time_zone = 'Asia/Bangkok'")
        #expect(try history.report(of: Self.day, now: Self.day.start).timeZone == "Asia/Bangkok")
    }
}
