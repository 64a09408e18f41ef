internal import Postgres
internal import Telemetry

extension DeadAction {
    static func read(
        _ scope: ReportScope, of sample: LogSample, buttons: [ExactName: [Button]], on connection: inout Connection
    ) throws(PostgresError) -> [DeadAction] {
        let first = scope.first(of: DeadActionRule.days)
        var delivered: [DeadActionRule.Delivered] = []
        for row in try connection.query(
            """
            SELECT category, day, delivered FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day BETWEEN \(first) AND \(scope.day)
            """)
        {
            delivered.append(.init(category: try row.get(0), day: try row.get(1), deliveries: try row.get(2)))
        }
        var tapped: [DeadActionRule.Tapped] = []
        for row in try connection.query(
            """
            SELECT category, action_id, day, tapped_deliveries FROM analytics.category_actions
            WHERE app = \(scope.app) AND day BETWEEN \(first) AND \(scope.day)
            """)
        {
            tapped.append(
                .init(
                    category: try row.get(0), id: try row.get(1), day: try row.get(2), deliveries: try row.get(3)))
        }
        let places = tapped.isEmpty ? [] : try readPlaces(scope, of: sample, on: &connection)
        return DeadActionRule(day: scope.day, delivered: delivered, tapped: tapped, places: places).find()
            .compactMap { $0.named(among: buttons[ExactName($0.category)] ?? []) }
    }

    /// With its title; nil of one that is registered no more.
    private func named(among buttons: [Button]) -> DeadAction? {
        let button = buttons.first { button in
            switch what {
            case .silentSince(let id, _): ExactName(button.id) == ExactName(id)
            case .neverTapped(let index, _): button.isThere && button.position == index + 1
            }
        }
        guard button?.verdict != .retired else { return nil }
        var named = self
        named.title = button?.title
        return named
    }

    /// What taps in the sample of the log say about the places of buttons. Their days are those of the taps, for the
    /// deliveries' would cost a look at each.
    private static func readPlaces(
        _ scope: ReportScope, of sample: LogSample, on connection: inout Connection
    ) throws(PostgresError) -> [DeadActionRule.Place] {
        let rows = try connection.query(
            """
            SELECT category, action_id, action_index, action_count, min(first_day), max(last_day)
            FROM generate_series(\(sample.start), \(sample.end), make_interval(mins => \(sample.step))) AS stretch
            CROSS JOIN LATERAL (
                SELECT
                    coalesce(category, '') AS category, action_id, action_index, action_count,
                    min((occurred_at AT TIME ZONE \(scope.timeZone))::date) AS first_day,
                    max((occurred_at AT TIME ZONE \(scope.timeZone))::date) AS last_day
                FROM analytics.action_taps
                WHERE app = \(scope.app) AND type = 'action.tapped' AND device_at >= stretch
                    AND device_at < stretch + make_interval(mins => \(sample.width))
                    AND (occurred_at AT TIME ZONE \(scope.timeZone))::date
                        BETWEEN \(scope.first(of: DeadActionRule.days)) AND \(scope.day)
                GROUP BY 1, 2, 3, 4
            ) AS part
            GROUP BY category, action_id, action_index, action_count
            """)
        var places: [DeadActionRule.Place] = []
        for row in rows {
            let (first, last): (CivilDate, CivilDate) = (try row.get(4), try row.get(5))
            places.append(
                .init(
                    category: try row.get(0), id: try row.get(1), index: try row.optional(2),
                    count: try row.optional(3),
                    days: first...last))
        }
        return places
    }
}
