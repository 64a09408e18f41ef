internal import Postgres
internal import Reports
internal import Values

/// The categories of an app, or one of them: its funnel, its buttons, and on the last day its versions and hours.
enum CategoryPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        guard let category = state.filters[.category] else {
            return try CategoryList.read(state, scope, on: &connection)
        }
        let app = state.app ?? ""
        var sight = Sight(
            Wording.name(category, else: "(no category)"),
            lead: "A category of \(app). \(scope.days), \(scope.comparison).", state, scope)
        let mine: Query = "app = \(app) AND category = \(category)"
        var listing = Listing(
            "totals", "The chosen days and those compared",
            FunnelSQL.compared(scope, from: "analytics.category_funnel", where: mine))
        listing.hidden = ["responded", "received_responded", "received_engaged", "suppressed"]
        listing.link = { row, column in
            guard row.text("days") == "chosen", let flag = DeliveriesPage.flag(of: column) else { return nil }
            return state.with([.flag: flag.isEmpty ? nil : flag], page: .deliveries)
        }
        let totals = try connection.answer(listing, for: state)
        sight.add(
            "In short",
            FunnelParts.figures(totals, scope) + [
                FunnelParts.ladder(totals, caption: "From delivered to engaged"),
                totals.grid.rows.isEmpty ? nil : .block(.table(totals.table)),
                .links([
                    .init(
                        text: "Goals after its notifications",
                        address: state.turned(to: .goal).with([.category: category]).address)
                ]),
            ] + Judged.comparable(scope, state))
        sight.add(
            "Trends",
            [FunnelParts.steps(state)]
                + (try AppPage.trends(
                    state, scope, from: "analytics.category_funnel", where: mine, told: false, on: &connection)))
        sight.add("Buttons", try buttons(state, scope, on: &connection))
        sight.add("One more notification", try PressurePart.read(state, scope, on: &connection))
        sight.add("On \(Wording.long(scope.lastWholeDay))", try lastDay(state, scope, on: &connection))
        return sight
    }

    private static func buttons(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let (app, category) = (state.app ?? "", state.filters[.category] ?? "")
        var known = Listing(
            "buttons", "Buttons, over all days: who saw them and who tapped",
            """
            SELECT action_id, title, answer, exposures, tapped_deliveries, tap_rate, verdict, rate_bound
            FROM analytics.category_buttons WHERE app = \(app) AND category = \(category)
            ORDER BY position NULLS LAST, action_id
            """)
        known.none = "No button of this category is registered or was tapped."
        known.bars = ["tap_rate"]
        known.hidden = ["verdict"]
        known.added = [{ row in ("Verdict", verdict(row.text("verdict") ?? "")) }]
        var taps = Listing(
            "taps", "Taps in the chosen days",
            """
            SELECT action_id, sum(tapped_deliveries) AS tapped_deliveries, sum(taps) AS taps,
                sum(foreground_taps) AS foreground_taps, sum(sole) AS sole
            FROM analytics.category_actions WHERE app = \(app) AND category = \(category)
                AND \(FunnelSQL.during(scope.days))
            GROUP BY action_id ORDER BY tapped_deliveries DESC, action_id
            """)
        taps.none = "No taps in these days."
        taps.link = { row, column in
            guard column == "tapped_deliveries", let action = row.text("action_id") else { return nil }
            return state.with([.response: action], page: .deliveries)
        }
        return [
            .answer(try connection.answer(known, for: state)), .answer(try connection.answer(taps, for: state)),
            .words("The deliveries behind a button are those whose first response was a tap of it.", .note),
        ]
    }

    /// As people say what the view says.
    private static func verdict(_ word: String) -> Table.Cell {
        switch word {
        case "tapped": Table.Cell("tapped", tone: .plain)
        case "untapped": Table.Cell("nobody who saw it tapped it", tone: .alarm)
        case "too_few": Table.Cell("too few saw it", tone: .note)
        case "exposure_unknown": Table.Cell("unknown who saw it", tone: .note)
        case "may_be_cut_off": Table.Cell("a banner may cut it off", tone: .note)
        default: Table.Cell(word.replacing("_", with: " "), tone: .note)
        }
    }

    /// These scan a day: of a million deliveries that takes a second, so they are read when somebody asks for them.
    private static let scanned = ["versions", "hours"]

    private static func lastDay(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let day = scope.lastWholeDay
        let zone = scope.timeZone
        let counts: Query = """
            count(*) AS delivered, count(*) FILTER (WHERE received) AS received,
                count(*) FILTER (WHERE received AND engaged) AS received_engaged,
                round(count(*) FILTER (WHERE received AND engaged)::numeric
                    / nullif(count(*) FILTER (WHERE received), 0), 6)
                    AS engagement_rate
            FROM analytics.deliveries
            WHERE app = \(state.app ?? "") AND day = \(day) AND category = \(state.filters[.category] ?? "")
                AND NOT silent
            """
        var versions = Listing(
            "versions", "By version of the app",
            "SELECT app_version, \(counts)\nGROUP BY app_version ORDER BY delivered DESC, app_version")
        versions.most = 12
        versions.bars = ["engagement_rate"]
        versions.link = { row, column in
            guard column == "delivered", let version = row.text("app_version") else { return nil }
            return state.with([.version: version], page: .deliveries).at(day, of: scope.days)
        }
        var hours = Listing(
            "hours", "By hour of the receipt, \(zone) time",
            "SELECT extract(hour FROM received_at AT TIME ZONE \(zone))::integer AS hour, \(counts) AND "
                + "received\nGROUP BY 1 ORDER BY 1"
        )
        hours.bars = ["engagement_rate"]
        (versions.meansAsIn, hours.meansAsIn) = (["category_funnel"], ["category_funnel", "hour_funnel"])
        // A list of the page's tables has them, too.
        if state.format == .json, state.table == nil { return [.source(.unread(versions)), .source(.unread(hours))] }
        guard let table = state.table, scanned.contains(table) else {
            var asked = state
            asked.table = scanned[1]
            return [
                .links([.init(text: "By version and by hour", address: asked.address)]),
                .words("This reads every delivery of the day, which takes a moment on a busy one.", .note),
            ]
        }
        return [
            .answer(try connection.scanning(versions, for: state)), .answer(try connection.scanning(hours, for: state)),
        ]
    }
}
