import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The quality of the data as analysts read it")
struct AnalyticsDataQualityTests {
    private static let columns =
        "app, day, key, accepted, duplicate, rejected, rejected_by_reason::text, corrected, clamped, late, client_dropped"

    private func rows(_ database: TestDatabase) throws -> [String] {
        try database.analystRows("SELECT \(Self.columns) FROM data_quality ORDER BY app, day, key")
    }

    private func refused(_ reason: RejectionReason, _ raw: String) -> RejectedEvent {
        RejectedEvent(id: nil, rejection: Rejection(reason, ""), raw: raw)
    }

    /// An app's submission with another of its keys.
    private func submission(
        of app: TestApp, key: APIKey, _ events: [Event], receivedAt: Timestamp, drops: [ClientDrop] = []
    ) -> Submission {
        Submission(app: app.id, key: key.id, receivedAt: receivedAt, events: events, drops: drops)
    }

    @Test(
        "what was sent is counted by app, day of receipt and key, over all batches, and what was refused by its reason")
    func counts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        var connection = try database.connect()
        let old = try APIKeys.add(to: "chat", kind: .write, name: "old build", on: &connection).key
        let appender = try database.appender()
        let now = Event.sampleTime
        let day: Int64 = 86_400_000_000
        let first = Event.sample()
        _ = try appender.append([
            app.submission(
                [
                    first, first, Event.sample(timeSource: .corrected), Event.sample(timeSource: .clamped),
                    Event.sample(occurredAt: now + (-day - 1), receivedAt: now),
                ], rejected: [refused(.tooOld, "1"), refused(.tooOld, "2"), refused(.invalidID, "3")]),
            other.submission([Event.sample()]),
        ])
        // Another batch, some hours later on the same day: a repeat, and one more refusal.
        let later = now + 7_200_000_000
        _ = try appender.append([
            app.submission([first], rejected: [refused(.tooOld, "4")], receivedAt: later),
            submission(
                of: app, key: old, [Event.sample()], receivedAt: later,
                drops: [ClientDrop(id: .random(), count: 5, since: nil, reason: .age)]),
        ])
        // An envelope without anything in it leaves no row; one with nothing but a drop report does.
        _ = try appender.append([
            app.submission([], receivedAt: now + day),
            app.submission(
                [], drops: [ClientDrop(id: .random(), count: 7, since: nil, reason: .size)], receivedAt: now + 2 * day),
        ])
        #expect(
            try rows(database) == [
                #"(chat,2026-11-20,"old build",1,0,0,{},0,0,0,5)"#,
                #"(chat,2026-11-20,write,4,2,4,"{""too_old"": 3, ""invalid_id"": 1}",1,1,1,0)"#,
                "(chat,2026-11-22,write,0,0,0,{},0,0,0,7)", "(other,2026-11-20,write,1,0,0,{},0,0,0,0)",
            ])
        #expect(
            try database.analystRows(
                "SELECT key, rejected FROM data_quality WHERE app = 'chat' AND day = '2026-11-20' AND key = 'write'")
                == ["(write,4)"])
    }

    @Test("the day ends at the app's own midnight, half-hour zones included")
    func zones() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let kolkata = try database.makeApp("kolkata", timeZone: "Asia/Kolkata")
        let chatham = try database.makeApp("chatham", timeZone: "Pacific/Chatham")
        let appender = try database.appender()
        // 18:30 UTC is midnight in Kolkata; 10:15 UTC is midnight on the Chatham Islands, whose clocks are at +13:45.
        let morning = Timestamp(microseconds: 1_795_132_800_000_000)  // 2026-11-20 00:00 UTC
        for (app, midnight) in [(kolkata, 66_600), (chatham, 36_900)] {
            for second in [-1, 0, 1] {
                let time = morning + Int64(midnight + second) * 1_000_000
                _ = try appender.append([
                    app.submission(
                        [Event.sample()],
                        drops: [ClientDrop(id: .random(), count: 10, since: nil, reason: .age)], receivedAt: time)
                ])
            }
        }
        #expect(
            try rows(database) == [
                "(chatham,2026-11-20,write,1,0,0,{},0,0,0,10)", "(chatham,2026-11-21,write,2,0,0,{},0,0,0,20)",
                "(kolkata,2026-11-20,write,1,0,0,{},0,0,0,10)", "(kolkata,2026-11-21,write,2,0,0,{},0,0,0,20)",
            ])
    }

    @Test("a client that says an absurd number cannot break the view")
    func absurd() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let drops = (1...3).map { _ in ClientDrop(id: .random(), count: .max, since: nil, reason: .unreadable) }
        _ = try database.appender().append([app.submission([], drops: drops)])
        #expect(try database.value("SELECT client_dropped FROM analytics.data_quality") == Int64.max)
    }

    @Test("counts are bigint and a day is a date")
    func columns() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let found = try database.columns(of: "data_quality")
        #expect(
            found == [
                "app:text", "day:date", "key:text", "accepted:bigint", "duplicate:bigint", "rejected:bigint",
                "rejected_by_reason:jsonb", "corrected:bigint", "clamped:bigint", "late:bigint",
                "client_dropped:bigint", "other:bigint",
            ])
    }
}
