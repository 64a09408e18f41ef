internal import Accounts
internal import EventLog
internal import Postgres
internal import Reports
internal import Values

/// The reports that are kept, and each of them as it was told.
enum ReportsPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let app = state.app ?? ""
        var sight = Sight(
            "Reports", lead: "The reports on \(app) that are kept, \(scope.days). Each shows what was told then.",
            state, scope)
        if let position = state.position?.number {
            let told: Query = """
                SELECT html FROM analytics.report_pages
                WHERE app = \(app) AND day = \(scope.days.last) AND position = \(position) ORDER BY made_at DESC LIMIT 1
                """
            if let html = try connection.ask(told).rows.first?.text("html") {
                sight.document = html
                return sight
            }
            sight.add("No such report", [.words("No report on this day was made at position \(position).")])
        }
        var reports = Listing(
            "reports", "Kept reports, the newest first, \(scope.timeZone) time",
            """
            SELECT day, position, made_at, \(FunnelSQL.local("made_at", scope)) AS made_locally, final, delivered,
                received, response_rate, engagement_rate
            FROM analytics.reports WHERE app = \(app) AND \(FunnelSQL.during(scope.days))
            ORDER BY day DESC, made_at DESC
            """)
        reports.most = 60
        reports.hidden = ["made_at"]
        reports.none = "No report on these days is kept. bellwether report makes them; a timer does so each night."
        reports.link = { row, column in
            guard column == "day" || column == "position", let day = row.day("day") else { return nil }
            return address(of: row, app: app, day)
        }
        sight.add("Reports", [.answer(try connection.answer(reports, for: state))])
        return sight
    }

    /// Where the report of a row is shown as it was told.
    static func address(of row: Grid.Row, app: String, _ day: CivilDate) -> PageState {
        var told = PageState(.reports, app: app).on(day)
        told.position = LogPosition(row.count("position"))
        return told
    }
}

/// A report as it was told is a document of its own, with its style in it.
enum Told {
    /// It may use exactly the style that it was kept with, and nothing else.
    static func policy(for document: String) -> String {
        var style = "'none'"
        if let start = document.firstRange(of: "<style>"),
            let end = document[start.upperBound...].firstRange(of: "</style>")
        {
            let digest = SHA256(of: document[start.upperBound..<end.lowerBound].utf8)
            style = "'sha256-\(Base64.encode(digest.bytes))'"
        }
        return "default-src 'none'; style-src \(style); base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }
}
