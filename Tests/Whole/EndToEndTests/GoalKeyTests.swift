import Accounts
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Whose goals are taken")
struct GoalKeyTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    private func goal(_ more: String = #""goal":"purchase","value":"9.50","currency":"THB""#) -> String {
        #"{"id":"\#(Wire.id())","type":"goal.reached","at":"2026-11-20T09:30:10.001Z",\#(more)}"#
    }

    private func goals(of app: TestApp) throws -> [String] {
        try shared.database.column(
            """
            SELECT key.name || ' ' || count(*) FROM log.opened_event AS e JOIN log.api_key AS key ON key.id = e.key
            WHERE e.app = \(app.id) GROUP BY key.name ORDER BY 1
            """)
    }

    @Test(
        "a server key tells goals and nothing else; an envelope without one is refused, as with a key of the wrong kind"
    )
    func server() throws {
        let app = try shared.makeApp()
        let key = String(try shared.bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast())
        let client = shared.service.client()
        let taken = try client.post(Wire.envelope(goal()), key: key).results
        #expect(taken.accepted == 1 && taken.results.isEmpty, "\(taken)")
        let mixed = Wire.envelope(goal(), Wire.event(), goal(#""goal":"""#), goal())
        let results = try client.post(mixed, key: key).results
        #expect((results.accepted, results.rejected) == (2, 2), "\(results)")
        #expect(results.results.map(\.index) == [1, 2])
        #expect(results.results.map(\.reason) == ["not_allowed", "missing_field"])
        #expect(results.results[0].detail == "type: with a server key only goal.reached is taken")
        #expect(try client.post(mixed, key: key).results.duplicate == 2)
        let dry = try client.send(
            "POST", "/v1/events?dry_run=true",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(key)"], body: Array(mixed.utf8))
        #expect(try dry.results.results.contains { $0.reason == "not_allowed" }, "\(dry)")
        for body in [Wire.envelope(Wire.event()), Wire.envelope(Wire.event(), Wire.event(type: "unheard"))] {
            let refused = try client.post(body, key: key)
            #expect(refused.status == 403 && refused.problem?.code == "wrong_key_kind", "\(refused)")
        }
        #expect(try client.post(Wire.envelope(), key: key).results.accepted == 0)
        #expect(try goals(of: app) == ["server 3"])
        let kept = try shared.database.analystRows(
            "SELECT reason, key, raw LIKE '%notification.opened%' FROM rejected_events WHERE app = '\(app.slug)' AND reason = 'not_allowed'"
        )
        #expect(kept == ["(not_allowed,server,t)"])
        let counted = try shared.database.analystRows(
            "SELECT accepted, rejected_by_reason FROM data_quality WHERE app = '\(app.slug)'")
        #expect(counted.count == 1 && counted[0].contains("not_allowed"), "\(counted)")
    }

    @Test("set to its server's goals, an app takes none with a write key; set back, it does, and a replay follows that")
    func set() throws {
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        let key = String(try bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast())
        let client = shared.service.client()
        #expect(try client.post(Wire.envelope(goal()), key: app.secret).results.accepted == 1)
        let told = try bellwether.run("app", "set", app.slug, "--goals", "server")
        #expect(told.status == 0 && told.messages.contains("a server key alone"), "\(told)")
        let isRefused = try eventually {
            let late = Wire.envelope(Wire.event(), goal())
            return try client.post(late, key: app.secret).results.results.last?.reason == "not_allowed"
        }
        #expect(isRefused)
        #expect(try client.post(Wire.envelope(goal()), key: key).results.accepted == 1)
        let list = try bellwether.trusted("app", "list", "--format", "json")
        #expect(list.contains(#""app":"\#(app.slug)","#) && list.contains(#""goals":"server""#), "\(list)")
        let row = try bellwether.trusted("app", "list").split(separator: "\n").first { $0.hasPrefix("\(app.slug) ") }
        #expect(row?.split(separator: " ").contains("server") == true, "\(String(describing: row))")
        let held = try bellwether.run("rejected", "replay", "--app", app.slug)
        #expect(held.output.hasPrefix("accepted 0\nduplicate 0\nrejected "), "\(held)")
        #expect(try bellwether.run("app", "set", app.slug, "--goals", "any").status == 0)
        let replayed = try bellwether.run("rejected", "replay", "--app", app.slug)
        #expect(replayed.status == 0 && !replayed.output.hasPrefix("accepted 0"), "\(replayed)")
        #expect(try bellwether.run("app", "set", app.slug, "--goals", "nobody").status == 64)
        #expect(try bellwether.run("app", "set", app.slug).status == 64)
    }
}
