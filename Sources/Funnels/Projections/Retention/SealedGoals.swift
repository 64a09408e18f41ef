internal import EventLog
internal import Postgres
internal import Values

/// What retention seals of goals. When a delivery is sealed, so is all that counted for it: such a goal never counts
/// again by the same rule, for whatever delivery. A goal whose event is removed is removed, too, and with it all goals
/// of its install on that day (UTC), because how many of a day count depends on all of them.
enum SealedGoals {
    /// Which goals `g` retention takes the events of.
    enum Removed {
        /// Those with a device time of this month.
        case month(from: Timestamp, to: Timestamp)
        /// Those among the strays found on this connection.
        case strays
    }

    /// Forgets what these deliveries were made of, and seals what counted for them. Part of the transaction that seals
    /// the deliveries.
    static func seal(
        _ names: [Delivery.Name], in table: GoalTable, on connection: inout Connection
    ) throws(PostgresError) {
        let names = names.filter(table.keeps)
        guard !names.isEmpty else { return }
        try connection.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(names.map(\.app)), \(names.map(\.install)), \(names.map(\.notificationKey)),
                    \(names.map(\.shard))) AS asked (app, install_id, notification_key, shard)
            ), counting AS (
                SELECT g.place, bit_or(g.rule) AS rules
                FROM asked CROSS JOIN LATERAL (
                    SELECT g.ctid AS place, 1::smallint AS rule FROM projection.\(identifier: table.goals) AS g
                    WHERE g.app = asked.app AND g.install_id = asked.install_id
                        AND g.response_key = asked.notification_key AND g.shard = asked.shard
                    UNION ALL
                    SELECT g.ctid, 2::smallint FROM projection.\(identifier: table.goals) AS g
                    WHERE g.app = asked.app AND g.install_id = asked.install_id
                        AND g.receipt_key = asked.notification_key AND g.shard = asked.shard
                ) AS g
                GROUP BY g.place
            ), sealed AS (
                UPDATE projection.\(identifier: table.goals) AS g
                SET response_key = CASE WHEN c.rules & 1 = 0 THEN g.response_key END,
                    response_at = CASE WHEN c.rules & 1 = 0 THEN g.response_at END,
                    receipt_key = CASE WHEN c.rules & 2 = 0 THEN g.receipt_key END,
                    receipt_at = CASE WHEN c.rules & 2 = 0 THEN g.receipt_at END,
                    sealed = g.sealed | c.rules
                FROM counting AS c WHERE g.ctid = c.place
                RETURNING g.device_at, g.event_id, g.install_id, g.app, g.shard, g.sealed
            )
            INSERT INTO projection.sealed_goal AS s (
                first_device_at, last_device_at, event_id, install_id, app, shard, rules)
            SELECT device_at, device_at, event_id, install_id, app, shard, sealed FROM sealed
            ON CONFLICT (event_id, install_id, app, first_device_at) DO UPDATE SET rules = s.rules | excluded.rules
            """)
        // An install's receipts and responses are read once for all of its deliveries.
        try connection.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(names.map(\.app)), \(names.map(\.install)), \(names.map(\.notificationKey)))
                    AS asked (app, install_id, notification_key)
            ), keyed AS MATERIALIZED (
                SELECT app, install_id, array_agg(notification_key) AS keys FROM asked GROUP BY app, install_id
            )
            DELETE FROM projection.\(identifier: table.touches) AS t USING keyed AS k
            WHERE t.app = k.app AND t.install_id = k.install_id AND t.notification_key = ANY (k.keys)
            """)
    }

    /// Notes in a temporary table which goals are to be removed.
    static func find(
        _ removed: Removed, in table: GoalTable, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            script: """
                SET LOCAL client_min_messages = warning; DROP TABLE IF EXISTS pg_temp.removed_goal;
                CREATE TEMPORARY TABLE removed_goal (
                    place tid, app integer, shard smallint, install_id uuid, event_id uuid,
                    device_at timestamptz, response_key text COLLATE "C", receipt_key text COLLATE "C");
                SET LOCAL enable_seqscan = on; SET LOCAL enable_mergejoin = on; SET LOCAL enable_nestloop = off
                """)
        let source: Statement =
            switch removed {
            case .month(let from, let to):
                """
                SELECT g.ctid AS place, g.*, g.device_at >= \(from) AND g.device_at < \(to) AS is_removed
                FROM projection.\(identifier: table.goals) AS g
                """
            case .strays:
                """
                SELECT g.ctid AS place, g.*, e.app IS NOT NULL AS is_removed
                FROM projection.\(identifier: table.goals) AS g
                LEFT JOIN (
                    SELECT DISTINCT device_at, event_id, install_id, app FROM \(sql: Strays.table)
                ) AS e ON e.device_at = g.device_at AND e.event_id = g.event_id AND e.install_id = g.install_id
                    AND e.app = g.app
                """
            }
        try connection.query(
            Statement(
                """
                INSERT INTO pg_temp.removed_goal
                SELECT place, app, shard, install_id, event_id, device_at, response_key, receipt_key
                FROM (
                    SELECT *, bool_or(is_removed) OVER (
                        PARTITION BY app, install_id, (occurred_at AT TIME ZONE 'UTC')::date) AS goes
                    FROM (\(source.sql)) AS g
                ) AS g
                WHERE goes
                """, source.parameters))
        try connection.execute(
            script:
                "SET LOCAL enable_seqscan = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_nestloop = on")
    }

    /// The deliveries for which these goals count, so many of them.
    static func deliveries(
        atMost most: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [Delivery.Name] {
        try Delivery.Name.all(
            connection.query(
                """
                SELECT DISTINCT key.notification_key, g.install_id, g.app, g.shard FROM pg_temp.removed_goal AS g
                CROSS JOIN LATERAL (VALUES (g.response_key), (g.receipt_key)) AS key (notification_key)
                WHERE key.notification_key IS NOT NULL LIMIT \(most)
                """))
    }

    /// Removes these goals, which count for nothing any more. They are remembered as long as the log has their events.
    static func remove(from table: GoalTable, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO projection.sealed_goal AS s (
                first_device_at, last_device_at, event_id, install_id, app, shard, rules)
            SELECT device_at, device_at, event_id, install_id, app, shard, 7 FROM pg_temp.removed_goal
            ON CONFLICT (event_id, install_id, app, first_device_at) DO UPDATE SET rules = excluded.rules
            """)
        try connection.query(
            """
            DELETE FROM projection.\(identifier: table.goals) AS g USING pg_temp.removed_goal AS r WHERE g.ctid = r.place
            """)
    }

    /// Forgets goals of which the log holds nothing any more.
    static func forgetGone(on connection: inout Connection) throws(PostgresError) {
        try SealedRows.forgetGone(
            from: "sealed_goal", elsewhere: "e.event_id = s.event_id AND e.device_at = s.first_device_at",
            on: &connection)
    }
}
