import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Dry runs over HTTP")
struct DryRunRequestTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    private func post(
        _ body: String, _ query: String = "?dry_run=true", key: String? = nil
    ) throws -> RawClient.Answer {
        try shared.service.client().send(
            "POST", "/v1/events" + query,
            headers: ["Authorization": "Bearer \(key ?? app.secret)", "Content-Type": "application/json"],
            body: Array(body.utf8))
    }

    private func rows(_ table: String) throws -> Int64 {
        try shared.database.value(Statement("SELECT count(*) FROM \(table) WHERE app = \(app.id)", []))
    }

    @Test("it answers as the real post then does, to the byte, and stores, keeps, learns and counts nothing")
    func same() throws {
        let known = Wire.event()
        let install = Wire.id()
        #expect(try shared.post(Wire.envelope(install: install, known), app).results.accepted == 1)
        let tables = ["log.event", "log.word", "log.rejected", "log.batch_tally", "log.client_drop"]
        let before = try tables.map(rows)
        let fresh = Wire.event(notification: #"{"id":"r","category":"UNHEARD-\#(app.slug)"}"#)
        let drops = #""dropped":[{"id":"\#(Wire.id())","count":12,"reason":"age"}]"#
        let envelope = Wire.envelope(
            install: install, more: drops, known, fresh, "17", Wire.event(type: "notification.eaten"), fresh)
        let answer = try post(envelope)
        #expect((try answer.results.accepted, try answer.results.duplicate, try answer.results.rejected) == (1, 2, 2))
        #expect(answer["content-type"] == "application/json")
        #expect(try tables.map(rows) == before)
        #expect(try post(envelope, "?x=1&dry_run=true&y").body == answer.body)
        // Only these words make it dry.
        #expect(try post(envelope, "?dry_run=false").body == answer.body)
        let after = try tables.map(rows)
        #expect(zip(after, before).allSatisfy { $0 > $1 }, "\(before) \(after)")
    }

    @Test("what no column will hold is told in a dry run alone, and of many members only the first hundred")
    func unread() throws {
        let envelope = Wire.envelope(Wire.event(), "17", Wire.event(more: #""launch":"hot""#))
        let told = try post(envelope).body
        #expect(
            told.hasSuffix(
                #","unread":[{"index":2,"member":"launch","advice":"\"hot\" is none of cold, warm, foreground"}]}"#
                    + "\n"),
            "\(told)")
        let stored = try post(envelope, "")
        #expect(!stored.body.contains("unread"))
        let odd = Wire.event(more: (0..<30).map { "\"member\($0)\":1" }.joined(separator: ","))
        let answer = try post(Wire.envelope(install: Wire.id(), more: #""x":1"#, odd, odd, odd, odd, odd, odd, odd))
        #expect(answer.body.components(separatedBy: #""member":"#).count == 101)
    }

    @Test("a service's own counts do not move, an empty envelope and one without a readable event are answered, too")
    func counts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let client = service.client()
        let headers = ["Authorization": "Bearer \(app.secret)", "Content-Type": "application/json"]
        for (events, accepted, rejected) in [([], 0, 0), (["1"], 0, 1), ([Wire.event(), "1"], 1, 1)] {
            let answer = try client.send(
                "POST", "/v1/events?dry_run=true", headers: headers, body: Array(Wire.envelope(events).utf8))
            #expect((try answer.results.accepted, try answer.results.rejected) == (accepted, rejected))
        }
        let metrics = try Metrics(client.get("/metrics").body)
        #expect(metrics.samples.allSatisfy { $0.name != "bellwether_events_total" })
        #expect(metrics.value("bellwether_batch_events_count") == 0)
        #expect(try database.value("SELECT count(*) FROM log.batch", as: Int64.self) == 0)
    }

    @Test("key, body, rate limit and database count as for any other envelope")
    func refusals() throws {
        #expect(try post("{", key: nil).problem?.code == "not_json")
        #expect(try post("{}", key: "nobody").problem?.code == "unknown_key")
        _ = try shared.bellwether.trusted("app", "set", app.slug, "--rate-limit", "0.01", "--rate-burst", "2")
        let envelope = Wire.envelope(Wire.event(), Wire.event(), Wire.event())
        let limited = try eventually { try post(envelope).problem?.code == "rate_limited" }
        #expect(limited)
        // They are the app's own envelopes, and a real one finds the debt.
        #expect(try shared.post(envelope, app).status == 429)
    }
}
