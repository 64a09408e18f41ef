internal import Postgres
internal import Reports
internal import Values

/// What became of everything that was sent: how far the other pages can be trusted.
enum QualityPage {
    private static let counts: Query = """
        sum(accepted) AS accepted, sum(duplicate) AS duplicate, sum(rejected) AS rejected, sum(corrected) AS corrected,
            sum(clamped) AS clamped, sum(late) AS late, sum(client_dropped) AS client_dropped
        """

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let app = state.app ?? ""
        var sight = Sight(
            "Data quality",
            lead: "What became of all events that \(app) sent, by the day of their receipt, \(scope.days).", state,
            scope)
        let mine: Query = "FROM analytics.data_quality WHERE app = \(app) AND \(FunnelSQL.during(scope.days))"
        var days = Listing(
            "days", "Events by day of receipt", "SELECT day, \(counts)\n\(mine) GROUP BY day ORDER BY day")
        days.most = DayRange.most
        let byDay = try connection.answer(days, for: state)
        let charts = [
            ("Accepted", "accepted"), ("Rejected", "rejected"), ("Clocks corrected", "corrected"),
            ("Over a day late", "late"),
        ]
        let drawn = charts.map { title, column in
            FunnelParts.trend(title, .count, column, byDay.grid, scope, .day)
        }
        sight.add(
            "Events",
            byDay.grid.rows.isEmpty
                ? [.words("Nothing was received in these days.", .note), .source(byDay)]
                : [
                    .trends(drawn),
                    .source(byDay),
                ])
        let keys = Listing("keys", "By key", "SELECT key, \(counts)\n\(mine) GROUP BY key ORDER BY accepted DESC, key")
        var reasons = Listing(
            "reasons", "Rejected events by reason",
            """
            SELECT reason, sum(events::bigint) AS events
            FROM analytics.data_quality CROSS JOIN LATERAL jsonb_each_text(rejected_by_reason) AS r (reason, events)
            WHERE app = \(app) AND \(FunnelSQL.during(scope.days)) GROUP BY reason ORDER BY events DESC, reason
            """)
        reasons.none = "Nothing was rejected."
        reasons.meansAsIn = ["rejected_events"]
        var newest = Listing(
            "rejected", "The newest rejected events that are kept, \(scope.timeZone) time",
            """
            SELECT received_at, \(FunnelSQL.local("received_at", scope)) AS received_locally, detail, reason, key,
                install_id
            FROM analytics.rejected_events WHERE app = \(app) ORDER BY received_at DESC, rejection DESC
            """)
        newest.most = 10
        newest.hidden = ["received_at"]
        newest.prose = ["detail"]
        newest.none = "None is kept."
        newest.link = { row, column in
            guard column == "install_id", let install = row.uuid("install_id") else { return nil }
            return state.turned(to: .live).with([.install: "\(install)"])
        }
        sight.add("By key", [.answer(try connection.answer(keys, for: state))])
        sight.add(
            "Rejected",
            [.answer(try connection.answer(reasons, for: state)), .answer(try connection.answer(newest, for: state))])
        var behind = Listing(
            "projections", "The funnels, and how far each is behind the log",
            """
            SELECT name, status, position, lag, lag_seconds, stopped_because FROM analytics.projections
                ORDER BY lag DESC, name
            """
        )
        behind.most = 40
        sight.add("Funnels", [.answer(try connection.answer(behind, for: state))])
        return sight
    }
}
