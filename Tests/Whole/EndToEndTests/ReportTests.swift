import EventLog
import Foundation
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Reports from the command line")
struct ReportTests {
    private static let day = "2026-11-20"

    /// Makes an app with deliveries on the day, opened or not; the funnels do not hold them yet.
    private func fill(
        _ database: TestDatabase, _ slug: String = "shop", timeZone: String = "UTC", deliveries: Int = 3
    ) throws {
        let app = try database.makeApp(slug, timeZone: timeZone)
        _ = try database.appender().append([app.submission((0..<deliveries).map { _ in .sample() })])
    }

    /// A database with an app, whose funnels are level.
    private func filled(_ slugs: String...) throws -> (TestDatabase, Bellwether) {
        let database = try TestDatabase.make()
        for slug in slugs { try fill(database, slug) }
        let bellwether = try Bellwether(database)
        _ = try bellwether.trusted("project", "--once")
        return (database, bellwether)
    }

    @Test("a day is printed in every format, and as of its position every byte of it again")
    func formats() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        for format in ["text", "markdown", "html", "json", "csv"] {
            let printed = try bellwether.run("report", "--app", "shop", "--date", Self.day, "--format", format)
            #expect(printed.status == 0 && printed.messages.isEmpty, "\(printed.messages)")
            #expect(printed.output.contains("shop") && printed.output.hasSuffix("\n"))
            #expect(!printed.output.contains("\u{1b}"))
            let kept = try bellwether.run(
                "report", "--app", "shop", "--date", Self.day, "--format", format, "--as-of", "1")
            #expect(kept.status == 0 && kept.messages.isEmpty, "\(kept.messages)")
            #expect(Array(kept.output.utf8) == Array(printed.output.utf8), "\(format)")
        }
    }

    @Test("what was printed stays as it was when the day has changed, and the next report tells what has")
    func asOf() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let first = try bellwether.trusted("report", "--date", Self.day)
        var connection = try database.connect()
        let app: Int32 = try connection.query("SELECT id FROM log.app")[0].get(0)
        let key: Int32 = try connection.query("SELECT id FROM log.api_key")[0].get(0)
        let late = Submission(
            app: app, key: key, receivedAt: Event.sampleTime, events: [.sample(), .sample()])
        _ = try database.appender().append([late])
        _ = try bellwether.trusted("project", "--once")
        let second = try bellwether.trusted("report", "--date", Self.day)
        #expect(first != second)
        #expect(try bellwether.trusted("report", "--date", Self.day, "--as-of", "1") == first)
        #expect(try bellwether.trusted("report", "--date", Self.day, "--as-of", "2") == second)
        #expect(try bellwether.trusted("report", "--date", Self.day, "--as-of", "999") == second)
        #expect(
            try database.analystRows("SELECT day, position, delivered FROM reports ORDER BY position")
                == ["(\(Self.day),1,3)", "(\(Self.day),2,5)"])
    }

    @Test("a week is summed up in every format, from its Monday to its Sunday, and is not kept")
    func week() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        for format in ["text", "markdown", "html", "json", "csv"] {
            let printed = try bellwether.trusted("report", "--week", "2026-W47", "--format", format)
            #expect(printed.contains("2026-W47") || printed.contains("week 47 of 2026"), "\(format)")
        }
        #expect(
            try bellwether.trusted("report", "--week", "2026-W47", "--format", "csv")
                .contains("\nshop,2026-W47,1,headline,,,,,delivered,3\n"))
        #expect(try database.value("SELECT count(*) FROM analytics.reports", as: Int64.self) == 0)
        let directory = TemporaryDirectory()
        _ = try bellwether.trusted("report", "--all-apps", "--week", "2026-W47", "--output-dir", directory("out"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory("out/shop")).sorted().first == "2026-W47.csv")
        for (wrong, why) in [
            (["--week", "2026-W54"], "2026-W47, or last"), (["--week", "2026-W47", "--date", "today"], "not both"),
            (["--week", "last", "--as-of", "1"], "not kept"), (["--week", "2099-W01"], "has not begun"),
        ] {
            let ended = try bellwether.start(["report"] + wrong).wait()
            #expect(ended.status == 64 && ended.messages.contains(why), "\(wrong): \(ended.messages)")
        }
    }

    @Test("where none is kept at a position, it ends with 1, prints nothing, and lists those that are")
    func noneKept() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let empty = try bellwether.run("report", "--date", Self.day, "--as-of", "1")
        #expect(empty.status == 1 && empty.output.isEmpty && empty.messages.contains("No report of 'shop' is kept yet"))
        _ = try bellwether.trusted("report", "--date", Self.day)
        let before = try bellwether.run("report", "--date", Self.day, "--as-of", "0")
        #expect(before.status == 1 && before.output.isEmpty)
        #expect(before.messages.contains("at or before position 0"), "\(before.messages)")
        let line = before.messages.split(separator: "\n").last ?? ""
        #expect(line.split(separator: " ").prefix(2) == ["\(Self.day)", "1"], "\(before.messages)")
        // Of another day: what there is of all days.
        let other = try bellwether.run("report", "--date", "2026-11-19", "--as-of", "1")
        #expect(other.status == 1 && other.output.isEmpty && other.messages.contains(Self.day))
    }

    @Test(
        "funnels that are behind or stopped are not printed from: 1, at once with --wait 0s, and a word of what to do")
    func notReady() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try fill(database)
        let bellwether = try Bellwether(database)
        // The day has to last for its events to be needed: it is today where they are committed now.
        for words in [["--date", "today"], ["--date", "today", "--format", "json", "--app", "shop"]] {
            let ended = try bellwether.start(["report", "--wait", "0s"] + words).wait(within: 40)
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(ended.messages.contains("1 batch ") && ended.messages.contains("bellwether project --once"))
        }
        let waited = try bellwether.run("report", "--date", "today", "--wait", "1s")
        #expect(waited.status == 1 && waited.output.isEmpty)
        let lines = waited.messages.split(separator: "\n")
        #expect(lines.count == 2 && lines.first?.hasPrefix("Waiting up to 1 s: ") == true, "\(waited.messages)")
        let waiting = try bellwether.start(["report", "--date", "today"])
        #expect(eventually { waiting.messages.contains("Waiting up to 60 s") })
        _ = try bellwether.trusted("project", "--once")
        #expect(try waiting.wait(within: 40).status == 0)
        try database.run(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 2, stopped_because = 'a nail'
            WHERE name = 'media_funnel'
            """)
        let stopped = try bellwether.start(["report", "--date", "today"]).wait(within: 40)
        #expect(stopped.status == 1 && stopped.output.isEmpty)
        #expect(stopped.messages.contains("bellwether projection resume media_funnel"), "\(stopped.messages)")
    }

    @Test(
        "a report of an app or a day without events says so and ends with 0; without any app there is nothing to report"
    )
    func nothing() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let none = try bellwether.run("report")
        #expect(none.status == 1 && none.messages.contains("bellwether app create"), "\(none.messages)")
        _ = try database.makeApp("shop")
        let empty = try bellwether.run("report")
        #expect(empty.status == 0 && empty.output.contains("No event of shop"), "\(empty)")
        let unknown = try bellwether.run("report", "--app", "shap")
        #expect(unknown.status == 1 && unknown.output.isEmpty && unknown.messages.contains("'shap'"))
    }

    @Test(
        "several apps come one after another: as text and Markdown with a rule, as lines of JSON, with one header of CSV"
    )
    func severalApps() throws {
        let (database, bellwether) = try filled("chat", "shop")
        defer { database.drop() }
        func report(_ words: String...) throws -> String {
            try bellwether.start(["report", "--date", Self.day] + words).wait().output
        }
        let parts = try ["chat", "shop"].map { try report("--app", $0) }
        #expect(try report() == parts.joined(separator: "\n" + String(repeating: "─", count: 100) + "\n\n"))
        #expect(try report("--format", "markdown").components(separatedBy: "\n---\n\n").count == 2)
        let objects = try report("--format", "json").split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.map { $0?["app"] as? String } == ["chat", "shop"])
        let header = try #require(try report("--app", "chat", "--format", "csv").split(separator: "\n").first)
        let lines = try report("--format", "csv").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.filter { $0 == header }.count == 1 && lines.first == header
                && lines.dropLast().allSatisfy { !$0.isEmpty })
        #expect(Set(lines.dropFirst().dropLast().map { $0.prefix(5) }) == ["chat,", "shop,"])
        #expect(try report("--as-of", "9") == report())
        let page = try bellwether.run("report", "--date", Self.day, "--format", "html")
        #expect(page.status == 64 && page.output.isEmpty && page.messages.contains("--app"), "\(page.messages)")
    }

    @Test("colour is for a terminal alone, and not when NO_COLOR says no; what is kept has none")
    func colour() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        // Whoever runs the tests may want none.
        var bright = bellwether
        bright.runner = ["env", "-u", "NO_COLOR"]
        #expect(try bright.onTerminal("report", "--date", Self.day).output.contains("\u{1b}["))
        #expect(try !bellwether.trusted("report", "--date", Self.day, "--as-of", "1").contains("\u{1b}"))
        #expect(try !bright.onTerminal("report", "--date", Self.day, "--as-of", "1").output.contains("\u{1b}"))
        #expect(
            try !bright.onTerminal("report", "--date", Self.day, "--format", "markdown").output.contains("\u{1b}"))
        var quiet = bellwether
        quiet.runner = ["env", "NO_COLOR=1"]
        #expect(try !quiet.onTerminal("report", "--date", Self.day).output.contains("\u{1b}"))
    }

    @Test("a database that takes no additions is reported from, but it is an error that the report is not kept")
    func notKept() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        try database.run("REVOKE INSERT ON report.kept FROM bellwether_reporter")
        let ended = try bellwether.run("report", "--date", Self.day)
        #expect(ended.status == 1 && ended.output.contains("shop"))
        #expect(ended.messages.contains("GRANT SELECT, INSERT ON report.kept"), "\(ended.messages)")
    }

    @Test("a login that only makes reports is enough, and one that may not is told what it needs")
    func login() throws {
        let (database, _) = try filled("shop")
        defer { database.drop() }
        let stranger = Bellwether(database: try database.url(as: TestPostgres.stranger))
        let refused = try stranger.run("report", "--date", Self.day)
        #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
        #expect(refused.messages.contains("GRANT bellwether_reporter"), "\(refused.messages)")
        let empty = try TestDatabase.make(.empty)
        defer { empty.drop() }
        let unmigrated = try Bellwether(empty).run("report")
        #expect(unmigrated.status == 1 && unmigrated.messages.contains("bellwether migrate"), "\(unmigrated.messages)")
    }
}
