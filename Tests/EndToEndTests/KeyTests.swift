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
            "SELECT DISTINCT k.name FROM log.event AS e JOIN log.api_key AS k ON k.id = e.key WHERE e.app = \(app.id) ORDER BY 1"
        )
        #expect(counts == ["ios", "write"])
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
}
