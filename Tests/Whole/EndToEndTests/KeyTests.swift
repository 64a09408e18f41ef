import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Keys and limits while the service runs")
struct KeyTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    @Test("a new key works at once, and a revoked one stops soon after")
    func lifetime() throws {
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        let key = String(try bellwether.trusted("app", "key", "add", app.slug, "--name", "ios").dropLast())
        let client = shared.service.client()
        #expect(try client.post(Wire.envelope(Wire.event()), key: key).status == 200)
        #expect(try bellwether.run("app", "key", "revoke", app.slug, "ios").status == 0)
        let stopped = try eventually {
            try client.post(Wire.envelope(Wire.event()), key: key).problem?.code == "revoked_key"
        }
        #expect(stopped)
        // Only that one; and what came with it is known by its name.
        #expect(try client.post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        let counts: [String] = try shared.database.column(
            "SELECT DISTINCT k.name FROM log.opened_event AS e JOIN log.api_key AS k ON k.id = e.key WHERE e.app = \(app.id) ORDER BY 1"
        )
        #expect(counts == ["ios", "write"])
    }

    @Test("a request that began before its key was closed stores nothing and is answered 403")
    func underWay() throws {
        let app = try shared.makeApp()
        let client = try RawClient(port: shared.service.port)
        let body = Wire.envelope(Wire.event())
        // The key is asked when the head is there; then the body takes its time.
        client.send(
            """
            POST /v1/events HTTP/1.1\r
            Host: x\r
            Authorization: Bearer \(app.secret)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            Expect: 100-continue\r
            \r

            """)
        #expect(try client.answer().status == 100)
        #expect(try shared.bellwether.run("app", "key", "revoke", app.slug, "write").status == 0)
        client.send(body)
        let answer = try client.answer()
        #expect(answer.status == 403 && answer.problem?.code == "revoked_key", "\(answer)")
        #expect(
            try shared.database.value("SELECT count(*) FROM log.event WHERE app = \(app.id)", as: Int64.self) == 0)
        #expect(
            try shared.database.value("SELECT count(*) FROM log.batch_tally WHERE app = \(app.id)", as: Int64.self) == 0
        )
    }

    @Test("a write key opens nothing but the way in for events, and what needs no key tells nothing of any app")
    func writeKeyOnly() throws {
        let app = try shared.makeApp()
        let client = shared.service.client()
        let category = "seen-by-nobody-\(app.slug)"
        let event = Wire.event(notification: #"{"id":"x","category":"\#(category)"}"#)
        #expect(try client.post(Wire.envelope(event), key: app.secret).status == 200)
        let headers = ["Authorization": "Bearer \(app.secret)", "Content-Type": "application/json"]
        for (method, path) in [("POST", "/v1/sends"), ("PUT", "/v1/categories")] {
            let answer = try client.send(method, path, headers: headers, body: Array("{}".utf8))
            #expect(answer.status == 403 && answer.problem?.code == "wrong_key_kind", "\(answer)")
        }
        for path in ["/v1/events", "/v1/sends", "/v1/categories", "/v1", "/", "/v1/apps"] {
            for method in ["GET", "HEAD", "DELETE", "PATCH"] {
                let status = try client.send(method, path, headers: headers).status
                #expect(status == 404 || status == 405, "\(method) \(path)")
            }
        }
        for path in ["/metrics", "/healthz", "/readyz", "/openapi.yaml"] {
            let answer = try client.get(path, headers: headers)
            #expect(
                answer.status == 200 && !answer.body.contains(category) && !answer.body.contains(app.slug), "\(path)")
        }
    }

    @Test("another app's key writes into its own app, whatever it says, and learns nothing of this one's events")
    func otherApps() throws {
        let (mine, other) = (try shared.makeApp(), try shared.makeApp())
        let client = shared.service.client()
        let install = Wire.id()
        let names = #""app":"\#(mine.slug)","app_id":\#(mine.id),"key":"write""#
        let envelope = Wire.envelope(install: install, more: names, Wire.event(more: names))
        #expect(try client.post(envelope, key: mine.secret).results.accepted == 1)
        // The same event, known to the bit, is new to the other app: not even that it is there is told.
        let second = try client.post(envelope, key: other.secret).results
        #expect((second.accepted, second.duplicate) == (1, 0))
        #expect(try client.post(envelope, key: mine.secret).results.duplicate == 1)
        let rows = try shared.database.analystRows(
            "SELECT app, count(*) FROM events WHERE install_id = '\(install)' GROUP BY app ORDER BY app")
        #expect(rows == [mine.slug, other.slug].sorted().map { "(\($0),1)" })
    }

    @Test("over the app's rate limit come 429 and Retry-After, and after that time it passes again")
    func rateLimit() throws {
        let app = try shared.makeApp()
        _ = try shared.bellwether.trusted("app", "set", app.slug, "--rate-limit", "4", "--rate-burst", "4")
        let client = shared.service.client()
        var refused: RawClient.Answer?
        let reached = try eventually {
            let answer = try client.post(Wire.envelope(Wire.event(), Wire.event()), key: app.secret)
            if answer.status != 200 { refused = answer }
            return refused != nil
        }
        #expect(reached)
        let answer = try #require(refused)
        #expect(answer.status == 429 && answer.problem?.code == "rate_limited")
        let seconds = try #require(answer["retry-after"].flatMap { Double($0) })
        #expect((1...5).contains(seconds))
        // Another app has its own allowance.
        #expect(try client.post(Wire.envelope(Wire.event()), key: try shared.makeApp().secret).status == 200)
        let envelope = Wire.envelope(Wire.event())
        let passed = try eventually(within: seconds + 5) { try client.post(envelope, key: app.secret).status == 200 }
        #expect(passed)
    }

    @Test("the lowest limit that there is refuses, and waits of days are told as an hour")
    func lowestRate() throws {
        let app = try shared.makeApp()
        _ = try shared.bellwether.trusted("app", "set", app.slug, "--rate-limit", "0.000001", "--rate-burst", "1e-6")
        let client = shared.service.client()
        var last: RawClient.Answer?
        let refused = try eventually {
            last = try client.post(Wire.envelope(Wire.event()), key: app.secret)
            return last?.status == 429
        }
        #expect(refused && last?["retry-after"] == "3600")
        for _ in 0..<5 { #expect(try client.post(Wire.envelope(Wire.event()), key: app.secret).status == 429) }
    }
}
