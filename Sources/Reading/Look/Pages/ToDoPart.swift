internal import Postgres
internal import Reports
internal import Values

/// What the reports on the last settled days that a page shows ask to do.
enum ToDoPart {
    static func read(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        guard let days = days(scope) else {
            return [
                .words(
                    "None of these days has settled. The report on each says what to do as far as it is known.", .note)
            ]
        }
        let answer = try connection.answer(listing(state.app ?? "", days), for: state)
        let rows = answer.grid.rows
        guard !rows.isEmpty else {
            return [
                .words(
                    "No report on \(days) is kept, so nothing here says what to do. bellwether report makes them; "
                        + "a timer does so each night.", .note)
            ]
        }
        let told = rows.compactMap(OpenDeeds.Told.init)
        let had = try subjects(told, state.app ?? "", days, on: &connection)
        let reported = rows.compactMap { $0.day("day") }
        let open = OpenDeeds.open(told, reported: Array(Set(reported))) { day, subject in
            had.contains(Had(day: day, subject: subject))
        }
        var pieces: [Sight.Piece] =
            open.isEmpty
            ? [.words("Nothing in the reports on \(days) calls for action.")] : open.map { .block($0.words) }
        pieces.append(.links(links(rows, state, to: open.isEmpty ? reported : open.map(\.day))))
        return pieces + [.source(answer)]
    }

    /// The last settled days of those that the page shows.
    private static func days(_ scope: Scope) -> DayRange? {
        let last = min(scope.days.last, scope.firstOpenDay.advanced(by: -1))
        guard last >= scope.days.first else { return nil }
        return DayRange(max(scope.days.first, last.advanced(by: 1 - OpenDeeds.mostDays)), last)
    }

    /// Of each day the newest report: a row for each thing that it asks, or one for a report that asks nothing.
    private static func listing(_ app: String, _ days: DayRange) -> Listing {
        var listing = Listing(
            "to_do", "What the reports on these days ask to do",
            """
            SELECT day, position, place, what, ask, section, subject, name, deliveries
            FROM (
                SELECT DISTINCT ON (day) day, position, made_at
                FROM analytics.reports WHERE app = \(app) AND \(FunnelSQL.during(days)) ORDER BY day, position DESC,
                    made_at DESC
            ) AS newest
            LEFT JOIN (
                SELECT * FROM analytics.report_to_do WHERE app = \(app) AND \(FunnelSQL.during(days))
            ) AS told USING (day, position, made_at)
            ORDER BY day DESC, place
            """)
        listing.most = OpenDeeds.mostDays * 6
        listing.hidden = ["ask", "subject", "name"]
        listing.prose = ["what"]
        listing.link = { row, column in
            guard column == "day", let day = row.day("day") else { return nil }
            return ReportsPage.address(of: row, app: app, day)
        }
        return listing
    }

    private static func links(_ rows: [Grid.Row], _ state: PageState, to days: [CivilDate]) -> [Sight.Link] {
        var missing = Set(days)
        return rows.compactMap { row in
            guard let day = row.day("day"), missing.remove(day) != nil, let app = state.app else { return nil }
            return Sight.Link(
                text: "Report on \(Wording.brief(day))", address: ReportsPage.address(of: row, app: app, day).address)
        }
    }

    private struct Had: Hashable {
        var day: CivilDate
        var subject: OpenDeeds.Subject
    }

    /// Which day had what is asked about.
    private static func subjects(
        _ told: [OpenDeeds.Told], _ app: String, _ days: DayRange, on connection: inout Connection
    ) throws(PostgresError) -> Set<Had> {
        func names(_ kind: String) -> [String] { told.map(\.subject).filter { $0.kind == kind }.map(\.name) }
        guard !told.isEmpty else { return [] }
        let rows = try connection.query(
            """
            SELECT DISTINCT day, 'category', category FROM analytics.category_funnel
            WHERE app = \(app) AND day BETWEEN \(days.first) AND \(days.last) AND delivered > 0
                AND category = ANY (\(names("category")))
            UNION ALL
            SELECT DISTINCT day, 'campaign', campaign FROM analytics.campaign_funnel
            WHERE app = \(app) AND day BETWEEN \(days.first) AND \(days.last) AND delivered > 0
                AND campaign = ANY (\(names("campaign")))
            UNION ALL
            SELECT * FROM (
                SELECT DISTINCT day, 'story', concat_ws(
                    ' · ', coalesce(nullif(category, ''), \(OpenDeeds.noCategory)), nullif(campaign, ''),
                        nullif(variant, '')) AS name
                FROM analytics.story_funnel WHERE app = \(app) AND day BETWEEN \(days.first) AND \(days.last)
                    AND stories > 0
            ) AS story WHERE name = ANY (\(names("story")))
            UNION ALL
            SELECT DISTINCT day, 'everything', '' FROM analytics.category_funnel
            WHERE app = \(app) AND day BETWEEN \(days.first) AND \(days.last) AND delivered > 0
            """)
        var had: Set<Had> = []
        for row in rows {
            let subject = OpenDeeds.Subject(kind: try row.get(1), name: try row.get(2))
            had.insert(Had(day: try row.get(0), subject: subject))
        }
        return had
    }
}

extension OpenDeeds.Told {
    /// Nil for a report that asks nothing.
    fileprivate init?(_ row: Grid.Row) {
        guard let day = row.day("day"), let what = row.text("what"), let section = row.text("section") else {
            return nil
        }
        self.init(
            day: day, what: what, ask: row.text("ask") ?? what, section: section,
            subject: OpenDeeds.Subject(kind: row.text("subject") ?? "", name: row.text("name") ?? ""))
    }
}
