internal import Postgres
internal import Reports
internal import Values

/// What the users of an app allow it to show, over time, and what they had received before they turned it off.
enum InstallsPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let app = state.app ?? ""
        var sight = Sight(
            "Installs",
            lead: "What the users of \(app) allow it to show, \(scope.days). Each install counts once a day.", state,
            scope)
        var listing = Listing(
            "installs", "Installs in use, day by day",
            """
            SELECT day, active,
                round((authorized + provisional + ephemeral)::numeric / nullif(active - unsaid, 0), 6) AS allowed_rate,
                round(prominent::numeric / nullif(prominent + quiet + none, 0), 6) AS prominent_rate, prominent, quiet,
                none, authorized, provisional, ephemeral, denied, not_determined, unsaid, turned_off, turned_on
            FROM analytics.install_days WHERE app = \(app) AND \(FunnelSQL.during(scope.days)) ORDER BY day
            """)
        listing.most = DayRange.most
        let days = try connection.answer(listing, for: state)
        let charts: [(String, Chart.Unit, String)] = [
            ("Installs in use", .count, "active"), ("Those that may show notifications", .share, "allowed_rate"),
            ("Those that show them where they are noticed", .share, "prominent_rate"),
            ("Turned notifications off", .count, "turned_off"), ("Turned them on again", .count, "turned_on"),
        ]
        let drawn = charts.map { FunnelParts.trend($0, $1, $2, days.grid, scope, .day) }
        sight.add(
            "Over time",
            days.grid.rows.isEmpty
                ? [.words("No install was in use in these days.", .note), .source(days)]
                : [
                    .trends(drawn),
                    .words(
                        "An install is in use on a day on which it sends an event. One that sends nothing is not "
                            + "here. Notifications are noticed (prominent) where they come as a banner or on the "
                            + "lock screen; quiet ones wait in the notification centre or in the scheduled summary."
                            + (FunnelParts.beginning(of: drawn, scope) ?? ""),
                        .note),
                    .source(days),
                ])
        var muted = Listing(
            "muted", "The category and campaign of the last push in the 24 hours before notifications were turned off",
            """
            SELECT category, campaign, sum(installs) AS installs, sum(received_nothing) AS received_nothing
            FROM analytics.muted_after WHERE app = \(app) AND \(FunnelSQL.during(scope.days))
            GROUP BY category, campaign ORDER BY installs DESC, category, campaign
            """)
        muted.none = "Nobody turned notifications off in these days, as far as installs say."
        muted.link = { row, column in
            switch column {
            case "category": row.text("category").map { state.turned(to: .category).with([.category: $0]) }
            case "campaign": row.text("campaign").map { state.turned(to: .campaign).with([.campaign: $0]) }
            default: nil
            }
        }
        sight.add("Before they turned it off", [.answer(try connection.answer(muted, for: state))])
        sight.add("One install", [.finder(Sight.Finder(state))])
        return sight
    }
}
