import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The export of the log")
struct ExportTests {
    private let shared: SharedService
    private let app: TestApp
    private let directory: TemporaryDirectory

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
        directory = TemporaryDirectory()
    }

    private func post(_ count: Int, text: String = "A") throws {
        let events = (0..<count).map { _ in Wire.event(type: "action.tapped", more: "\"action_id\":\"\(text)\"") }
        #expect(try shared.post(Wire.envelope(events), app).results.accepted == count)
    }

    /// Exports in parts while others go on posting, each part after the position that the last one named.
    private func parts(_ format: String) throws -> [String] {
        nonisolated(unsafe) var parts: [String] = []
        nonisolated(unsafe) var position = "0"
        let next = directory("next")
        for part in 0..<4 {
            try post(3, text: #"a,\"b\"\n\u00e9"#)
            try together(2) { thread in
                guard thread == 0 else {
                    // The last part comes when all is there.
                    if part < 3 { try post(200) }
                    return
                }
                let ended = try shared.bellwether.run(
                    "export", "--app", app.slug, "--from", position, "--format", format, "--next", next)
                #expect(ended.status == 0, "\(ended.messages)")
                position = try String(contentsOfFile: next, encoding: .utf8).trimmingCharacters(in: .newlines)
                #expect(ended.messages.contains("go on with --from \(position)"))
                parts.append(ended.output)
            }
        }
        return parts
    }

    @Test("in parts, as CSV that a database loads again, has each event once and every column as it was")
    func csv() throws {
        let parts = try parts("csv")
        let files = try parts.enumerated().map { place, text in
            let file = directory("\(place).csv")
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }
        let copies = files.map { "\\copy loaded FROM '\($0)' (FORMAT csv, HEADER)" }
        let script = """
            CREATE TEMPORARY TABLE loaded AS SELECT * FROM analytics.events LIMIT 0;
            \(copies.joined(separator: "\n"))
            SELECT count(*), count(DISTINCT event_id) FROM loaded;
            SELECT count(*) FROM ((SELECT * FROM loaded EXCEPT SELECT * FROM analytics.events)
                UNION ALL (SELECT * FROM analytics.events WHERE app = '\(app.slug)' EXCEPT SELECT * FROM loaded))
                    AS other;
            """
        let file = directory("load.sql")
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let loaded = try ChildProcess.run([
            "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", file, try shared.database.url(),
        ])
        #expect(loaded.status == 0 && loaded.output == "612|612\n0\n", "\(loaded)")
    }

    @Test("for a spreadsheet, no cell is taken for a formula; as CSV, each is as it was sent") func spreadsheet() throws
    {
        let names = ["=HYPERLINK(\"http://evil.example\")", "+1", "-1", "@SUM(1)", " =1+1"]
        for name in names {
            let quoted = name.replacingOccurrences(of: "\"", with: "\\\"")
            let event = Wire.event(notification: #"{"id":"n","category":"\#(quoted)"}"#)
            #expect(try shared.service.client().post(Wire.envelope(event), key: app.secret).results.accepted == 1)
        }
        let safe = try shared.bellwether.trusted("export", "--app", app.slug, "--format", "spreadsheet")
        let exact = try shared.bellwether.trusted("export", "--app", app.slug, "--format", "csv")
        for name in names {
            let cell = name.replacingOccurrences(of: "\"", with: "\"\"")
            #expect(safe.contains("'\(cell)") && !exact.contains("'\(cell)"), "\(safe)")
            #expect(exact.contains(cell))
        }
    }

    @Test("as NDJSON has the same events, in the order of the commits, and says nothing of what is null")
    func ndjson() throws {
        let lines = try parts("ndjson").joined().split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let stored: [String] = try shared.database.column(
            "SELECT event_id::text FROM analytics.events WHERE app = \(app.slug)")
        #expect(lines.count == 612 && Set(lines.compactMap { $0["event_id"] as? String }) == Set(stored))
        let batches = lines.compactMap { $0["batch"] as? Int }
        #expect(batches == batches.sorted() && batches.count == 612)
        #expect(lines.contains { $0["action_id"] as? String == "a,\"b\"\né" })
        #expect(lines.allSatisfy { $0["via"] == nil && $0["seq"] == nil })
    }

    @Test("needs no more than an analyst's login; after the end, for an app that is not there, it says so")
    func mistakes() throws {
        try post(1)
        let analyst = Bellwether(database: try shared.database.url(as: TestPostgres.analyst))
        let all = try analyst.trusted("export", "--app", app.slug)
        #expect(all.split(separator: "\n").count == 2 && all.hasPrefix("app,event_id,type,device_at,"))
        for (words, hint) in [
            (["--app", "nobody"], "no app 'nobody'"), (["--from", "99999999"], "the log ends at position"),
            (["--format", "parquet"], "csv, ndjson"),
        ] {
            let ended = try analyst.run("export", words[0], words[1])
            #expect(ended.status != 0 && ended.messages.contains(hint), "\(ended.messages)")
        }
    }

    @Test("whose reader goes away fails, and names no position to go on from")
    func deserted() throws {
        try post(900)
        let next = directory("deserted")
        var piped = try shared.bellwether
        piped.runner = ["bash", "-c", #"set -o pipefail; "$@" | head -n 1"#, "bash"]
        let ended = try piped.run("export", "--app", app.slug, "--next", next)
        #expect(ended.status != 0 && !FileManager.default.fileExists(atPath: next), "\(ended)")
    }
}
