import Foundation
import TestSupport
import Testing

@Suite("demo")
struct DemoTests {
    private let scratch = TemporaryDirectory()

    @Test("shows two apps in two zones, proves the funnels, loses nothing, and can be looked at afterwards")
    func demo() throws {
        let data = scratch("data")
        let ended = try Bellwether(database: nil).run("demo", "--data", data, "--installs", "40", within: 300)
        #expect(ended.status == 0, "\(ended.messages)")
        for app in ["aurora-news", "lotus-shop"] { #expect(ended.output.contains(app)) }
        for zone in ["Europe/Berlin", "Asia/Bangkok"] { #expect(ended.output.contains(zone)) }
        #expect(ended.messages.contains("Verified: every cell matches the log."))
        #expect(ended.messages.contains("clock ran through two weeks"))

        let pages = ended.messages.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasSuffix(".html") }
        #expect(pages.count == 2)
        // Each alarm is one that the simulation means: `Docs/Report.md` lists them. In the first hours after midnight
        // in the zone of an app, its last day has not settled.
        let meant = [
            "Receipt coverage of", "order-update: more delivered than sent",
            "page 3 of the payload was sent without an image",
            "order-update: more accepted by FCM than sent", "order-update: more delivered by FCM than sent",
            "had both media and buttons", "where the fallback was shown", "Late events will still change the day",
        ]
        let alarms = try pages.flatMap { page in
            let html = try String(contentsOfFile: String(page), encoding: .utf8)
            #expect(html.contains("<html"))
            return html.split(separator: "\n").filter { $0.hasPrefix("<p class=\"alarm\">") }
        }
        #expect(alarms.contains { $0.contains("had both media and buttons") })
        #expect(alarms.filter { alarm in !meant.contains { alarm.contains($0) } } == [])

        // A report of each of the sixteen days but the last in one app, and days that were told otherwise before.
        let bellwether = Bellwether(data: data)
        let kept = try bellwether.trusted(
            "psql", "--", "-Atc", "SELECT app, count(DISTINCT day) FROM reports GROUP BY app ORDER BY app")
        #expect(kept == "aurora-news|15\nlotus-shop|15\n")
        #expect(ended.output.contains("Changed since they were reported"))
        // Late ones came late.
        let late = try bellwether.trusted(
            "psql", "--", "-Atc",
            "SELECT count(*) > 10 FROM events WHERE received_at - occurred_at > interval '6 hours'")
        #expect(late == "t\n")
        // Some turn notifications on again.
        let on = try bellwether.trusted("psql", "--", "-Atc", "SELECT sum(turned_on) > 0 FROM install_days")
        #expect(on == "t\n")
        // What is broken on its last day is news the next morning.
        let places = """
            {"from": "a@b", "sendmail": "/bin/true", "places": [{"name": "ana", "mail": ["c@d"], "when": ["alarms"]}]}
            """
        try places.write(toFile: scratch("places.json"), atomically: false, encoding: .utf8)
        let morning = try bellwether.run("report", "--all-apps", "--deliver", scratch("places.json"))
        #expect(morning.status == 0 && morning.messages.contains("ana: "), "\(morning)")
        // No question of the guide comes back empty, and no view. Forty phones tap two buttons of a category a day, so
        // on one day they may tap none, hardly on five.
        let views = try bellwether.trusted(
            "psql", "--", "-Atc", "SELECT 'TABLE ' || view FROM pg_views AS v (schema, view) WHERE schema = 'analytics'"
        )
        let days = try bellwether.trusted(
            "psql", "--", "-Atc",
            "SELECT DISTINCT day + 1 FROM reports WHERE app = 'aurora-news' ORDER BY 1 DESC LIMIT 5"
        )
        .split(separator: "\n")
        #expect(days.count == 5)
        let questions =
            views.split(separator: "\n").map(String.init)
            + (try AnalystsGuide.queries()).map {
                AnalystsGuide.asADashboardAsks($0, of: "aurora-news", during: "current_date - 7 AND current_date")
            }
        #expect(questions.count > 50)
        let answered = questions.map { question in
            guard question.contains("current_date") else { return "SELECT EXISTS (\(question)\n)" }
            return "SELECT "
                + days.map { "EXISTS (\(question.replacing("current_date", with: "date '\($0)'"))\n)" }
                .joined(separator: " OR ")
        }
        .joined(separator: "\nUNION ALL\n")
        let answers = try bellwether.trusted("psql", "--", "-Atc", answered).split(separator: "\n")
        #expect(answers.count == questions.count)
        // Forty phones may happen to drop nothing.
        let empty = zip(questions, answers).filter { $1 != "t" }.map(\.0)
        #expect(empty.filter { !$0.contains(/^TABLE client_drops$/) } == [])
        let again = try bellwether.trusted("report", "--app", "aurora-news")
        #expect(again.contains("aurora-news"))

        // A second demonstration does not mix with it.
        let second = try Bellwether(database: nil).run("demo", "--data", data, "--installs", "10")
        #expect(second.status == 1)
        #expect(second.messages.contains("there are already apps in \(data) (aurora-news, lotus-shop)"))
    }
}
