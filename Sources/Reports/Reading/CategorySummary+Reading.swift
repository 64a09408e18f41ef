internal import Postgres
internal import Telemetry

extension CategorySummary {
    static func read(
        _ scope: ReportScope, buttons: [ExactName: [Button]], withLaunches: Bool, on connection: inout Connection
    ) throws(PostgresError) -> [CategorySummary] {
        let actions = try readActions(scope, on: &connection)
        let answers = try readAnswers(scope, on: &connection)
        let launches = withLaunches ? try readLaunches(scope, on: &connection) : [:]
        let rows = try connection.query(
            """
            SELECT category, \(sql: FunnelCounts.columns), dismiss_rate::float8 FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY delivered DESC, category COLLATE "C"
            """)
        var categories: [CategorySummary] = []
        for row in rows {
            var category = CategorySummary(name: try row.get(0), counts: try FunnelCounts(row, from: 1))
            category.actions = actions[ExactName(category.name)] ?? []
            category.buttons = buttons[ExactName(category.name)] ?? []
            category.answers = answers[ExactName(category.name)] ?? []
            category.dismissRate = try row.optional(13)
            category.launches = launches[ExactName(category.name)] ?? []
            categories.append(category)
        }
        return categories
    }

    private static func readActions(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Action]] {
        let rows = try connection.query(
            """
            SELECT category, action_id, tapped_deliveries, taps, foreground_taps, timed, median_seconds::float8
            FROM analytics.category_actions WHERE app = \(scope.app) AND day = \(scope.day)
            ORDER BY tapped_deliveries DESC, action_id COLLATE "C"
            """)
        var actions: [ExactName: [Action]] = [:]
        for row in rows {
            let action = Action(
                id: try row.get(1), tappedDeliveries: try row.get(2), taps: try row.get(3),
                foregroundTaps: try row.get(4), timed: try row.get(5), medianSeconds: try row.optional(6))
            actions[ExactName(try row.get(0)), default: []].append(action)
        }
        return actions
    }

    private static func readAnswers(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Answer]] {
        let rows = try connection.query(
            """
            SELECT category, answer, tapped_deliveries::bigint, taps::bigint FROM analytics.category_answers
            WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY tapped_deliveries DESC, answer COLLATE "C"
            """)
        var answers: [ExactName: [Answer]] = [:]
        for row in rows {
            answers[ExactName(try row.get(0)), default: []].append(
                Answer(answer: try row.get(1), tappedDeliveries: try row.get(2), taps: try row.get(3)))
        }
        return answers.filter { $1.contains { !$0.answer.isEmpty } }
    }

    /// Opened deliveries by the launch of their first opening in the order of events.
    ///
    /// The openings are looked up in the log by the device times between which the deliveries' events lie: all those
    /// spans laid over each other, so that a phone whose clock is years off costs a look at its own year and no more.
    /// Of a delivery that lasted over two days, those first days are searched and its last moment.
    private static func readLaunches(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Launch]] {
        let rows = try connection.query(
            """
            WITH opened AS MATERIALIZED (
                SELECT install_id, notification_key, category, first_device_at, last_device_at
                FROM analytics.deliveries
                WHERE app = \(scope.app) AND day = \(scope.day) AND opened AND NOT silent
            ), stretch AS MATERIALIZED (
                SELECT lower(span) AS start, upper(span) AS stop FROM (
                    SELECT unnest(range_agg(span)) AS span FROM (
                        SELECT tstzrange(
                            first_device_at, least(last_device_at, first_device_at + interval '2 days'), '[]') AS span
                        FROM opened
                        UNION ALL
                        SELECT tstzrange(last_device_at, last_device_at, '[]') FROM opened
                    ) AS single
                ) AS merged
            ), opening AS (
                SELECT DISTINCT ON (install_id, notification_key) install_id, notification_key, launch
                FROM stretch
                CROSS JOIN LATERAL (
                    SELECT install_id, notification_key, launch, occurred_at, seq, event_id, device_at
                    FROM analytics.opens
                    WHERE app = \(scope.app) AND type = 'notification.opened' AND device_at BETWEEN start AND stop
                    OFFSET 0
                ) AS found
                ORDER BY install_id, notification_key, occurred_at, coalesce(seq, 0), event_id, device_at
            )
            SELECT category, coalesce(launch, ''), count(*)
            FROM opened LEFT JOIN opening USING (install_id, notification_key)
            GROUP BY category, coalesce(launch, '') ORDER BY count(*) DESC, coalesce(launch, '') COLLATE "C"
            """)
        var launches: [ExactName: [Launch]] = [:]
        for row in rows {
            launches[ExactName(try row.get(0)), default: []].append(
                Launch(state: try row.get(1), opened: try row.get(2)))
        }
        return launches
    }
}
