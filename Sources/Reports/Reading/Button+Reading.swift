internal import Postgres
internal import Telemetry

extension Button {
    /// The buttons of the categories of the app of which one is registered or was: those in their places, then others.
    /// What is only known by taps needs no second list.
    static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Button]] {
        let rows = try connection.query(
            """
            SELECT category, action_id, position::integer, title, nullif(answer, ''), exposures::bigint,
                tapped_deliveries::bigint, taps::bigint, tap_rate::float8, verdict, rate_bound::float8
            FROM analytics.category_buttons WHERE app = \(scope.app) ORDER BY position NULLS LAST, action_id COLLATE "C"
            """)
        var buttons: [ExactName: [Button]] = [:]
        for row in rows {
            // A verdict that a later version makes is none to this one.
            guard let verdict = Verdict(rawValue: try row.get(9)) else { continue }
            let button = Button(
                id: try row.get(1), position: try row.optional(2, as: Int32.self).map(Int.init),
                title: try row.optional(3), answer: try row.optional(4), exposures: try row.optional(5),
                tappedDeliveries: try row.get(6), taps: try row.get(7), tapRate: try row.optional(8),
                verdict: verdict, rateBound: try row.optional(10))
            buttons[ExactName(try row.get(0)), default: []].append(button)
        }
        return buttons.filter { $1.contains { $0.verdict != .unregistered } }
    }
}
