import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("Following the log")
struct EventsTailTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    @Test(
        "what many clients post at once is printed once, in the order of the commits, until Ctrl-C, which ends it well")
    func follow() throws {
        let tail = try shared.bellwether.start(["events", "tail", "--app", app.slug, "--format", "json"])
        // It begins at the head, so what comes before it has looked is not its.
        let begun = try eventually {
            _ = try shared.post(Wire.envelope(Wire.event()), app)
            return !tail.output.isEmpty
        }
        #expect(begun, "\(tail.messages)")
        try together(4) { _ in
            let client = shared.service.client()
            for _ in 0..<10 {
                let answer = try client.post(
                    Wire.envelope(Wire.event(), "17", Wire.event(type: "action.tapped", more: #""action_id":"A""#)),
                    key: app.secret)
                #expect(try answer.results.accepted == 2)
            }
        }
        let stored: [String] = try shared.database.column(
            "SELECT event_id::text FROM analytics.events WHERE app = \(app.slug) AND action_id = 'A' ORDER BY batch")
        #expect(stored.count == 40)
        func printed() throws -> [[String: Any]] {
            try tail.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
        }
        let isAll = eventually { (try? printed().filter { $0["action_id"] != nil }.count) == 40 }
        #expect(isAll)
        tail.signal(SIGINT)
        #expect(try tail.wait().status == 0)
        let lines = try printed()
        let batches = lines.compactMap { $0["batch"] as? Int }
        #expect(batches.count == lines.count && batches == batches.sorted())
        #expect(
            Set(lines.compactMap { $0["event_id"] as? String }).count
                == lines.filter { $0["result"] as? String == "accepted" }.count)
        #expect(Set(lines.filter { $0["action_id"] != nil }.compactMap { $0["event_id"] as? String }) == Set(stored))
        #expect(lines.contains { $0["reason"] as? String == "not_an_object" })
    }

    @Test("it goes on after a position, ends at a limit, and needs no more than an analyst's login")
    func positions() throws {
        let results = try shared.post(Wire.envelope(Wire.event(), Wire.event(type: "story.finished")), app).results
        #expect(results.accepted == 2)
        let batch: Int64 = try shared.database.value(
            "SELECT max(batch) FROM analytics.events WHERE app = \(app.slug)")
        let analyst = Bellwether(database: try shared.database.url(as: TestPostgres.analyst))
        let all = try analyst.trusted("events", "tail", "--app", app.slug, "--from", "\(batch - 1)", "--limit", "2")
        let lines = all.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("\(batch)  ") && $0.contains("  \(app.slug)  ") })
        let one = try analyst.trusted(
            "events", "tail", "--app", app.slug, "--from", "0", "--limit", "1", "--type", "story.finished")
        #expect(one.contains("  story.finished  ") && one.split(separator: "\n").count == 1)
    }

    @Test("it ends when nobody reads it any more")
    func deserted() throws {
        let events = (0..<900).map { _ in Wire.event() }
        #expect(try shared.post(Wire.envelope(events), app).results.accepted == 900)
        var piped = try shared.bellwether
        piped.runner = ["bash", "-c", #"set -o pipefail; "$@" | head -n 1"#, "bash"]
        let ended = try piped.run("events", "tail", "--app", app.slug, "--from", "0")
        #expect(ended.status == 0 && ended.output.split(separator: "\n").count == 1, "\(ended.messages)")
    }

    @Test("an app, an install or a type that there is not is told")
    func mistakes() throws {
        let bellwether = try shared.bellwether
        for (words, status, hint) in [
            (["--app", "nobody"], 1, "no app 'nobody'"), (["--install", "8f2f"], 64, "8-4-4-4-12"),
            (["--type", "opened"], 64, "notification.opened"), (["--from", "-1"], 64, "--from"),
            (["--limit", "0"], 64, "--limit"),
        ] as [([String], Int32, String)] {
            let ended = try bellwether.start(["events", "tail"] + words).wait()
            #expect(ended.status == status && ended.messages.contains(hint), "\(ended)")
        }
        let away = try Bellwether(database: "postgresql://127.0.0.1:1/none").run("events", "tail")
        #expect(away.status == 69)
    }
}
