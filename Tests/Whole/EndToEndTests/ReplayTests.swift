import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Replaying refused events")
struct ReplayTests {
    @Test("what was refused for a reason that is gone is stored once, with the clock and the envelope of then")
    func replay() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let app = try database.makeApp()
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        let client = service.client()
        let (id, install) = (Wire.id(), Wire.id())
        let past = Date(timeIntervalSinceNow: -86_400)
        let clock = past.ISO8601Format()
        let body = Wire.envelope(
            install: install, sentAt: clock,
            Wire.event(notification: #"{"id":"a","category":"FIRST"}"#),
            // A type that comes into the catalogue with the next version of the program.
            Wire.event(
                id: id, type: "notification.opened.again", at: clock, notification: #"{"id":"b","category":"SECOND"}"#),
            "17")
        let results = try client.post(body, key: app.secret).results
        #expect(results.results.map(\.reason) == ["unknown_type", "not_an_object"], "\(results)")
        let received: [String] = try database.column(
            "SELECT received_at::text FROM analytics.rejected_events WHERE reason = 'unknown_type'")
        #expect(received.count == 1)

        try database.run("UPDATE log.rejected SET raw = replace(raw, 'opened.again', 'opened')")

        _ = try database.makeApp("other")
        let others = try bellwether.trusted("rejected", "replay", "--app", "other")
        #expect(others == "accepted 0\nduplicate 0\nrejected 0\n")
        #expect(try bellwether.trusted("rejected", "replay") == "accepted 1\nduplicate 0\nrejected 1\n")
        let rows: [String] = try database.column(
            """
            SELECT concat_ws(' ', category, install_id, platform, time_source,
                received_at = \(received[0])::timestamptz,
                occurred_at BETWEEN received_at - interval '3 s' AND received_at)
            FROM analytics.events WHERE event_id::text = \(id)
            """)
        #expect(rows == ["SECOND \(install) ios corrected t t"])
        // Again changes nothing, and says so with its exit code; neither does the phone's own retry.
        let again = try bellwether.run("rejected", "replay")
        #expect(again.output == "accepted 0\nduplicate 0\nrejected 1\n" && again.status == 1)
        #expect(try database.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 2)
        let left = try bellwether.trusted("rejected", "list")
        #expect(!left.contains("unknown_type") && left.contains("not_an_object"))
        #expect(try bellwether.trusted("rejected", "list", "--all").contains("unknown_type"))
        let retried = try client.post(body.replacing("opened.again", with: "opened"), key: app.secret).results
        #expect((retried.accepted, retried.duplicate, retried.rejected) == (0, 2, 1))
    }
}
