internal import EventLog
internal import Telemetry

extension RecountTables {
    /// The goals, from all events of the shard, with what each counts for. In event order, the last response and the
    /// last receipt before a goal are the greatest ranks so far. Nothing is ranked where there is no goal. `s` are goals
    /// of which something is sealed.
    static func goals(shard: Int16, of copy: LogCopy) -> String {
        """
        WITH sealed AS MATERIALIZED (
            SELECT s.*, \(copy.scatter.event("s", at: "first_device_at")) AS scatter
            FROM projection.sealed_goal AS s WHERE s.shard = \(shard)
        ), reached AS MATERIALIZED (
            SELECT e.app, e.install_id, e.occurred_at, e.seq, e.event_id, e.device_at, e.notification_key, e.scatter, e.goal,
                (e.value * 1000000)::bigint AS value,
                (coalesce(ascii(e.currency) - 64, 0) + (coalesce(ascii(substr(e.currency, 2)) - 64, 0) << 5)
                    + (coalesce(ascii(substr(e.currency, 3)) - 64, 0) << 10))::smallint AS currency,
                coalesce(s.rules, 0) AS rules
            FROM recount_log AS e
            LEFT JOIN sealed AS s ON \(copy.scatter.event("e", at: "device_at")) = s.scatter
                AND CASE WHEN s.event_id = e.event_id AND s.install_id = e.install_id AND s.app = e.app
                    AND s.first_device_at = e.device_at THEN true ELSE false END
            WHERE e.type = \(EventType.goalReached.rawValue) AND coalesce(s.rules, 0) & 4 = 0
        ), point AS (
            SELECT app, install_id, occurred_at, seq, event_id, device_at, notification_key, scatter,
                CASE type WHEN 1 THEN 2 ELSE 1 END AS kind, NULL::integer AS goal, NULL::bigint AS value,
                NULL::smallint AS currency, 0 AS rules
            FROM recount_event
            WHERE (SELECT true FROM reached LIMIT 1) AND app IN (SELECT app FROM recount_goal_app)
                AND (type IN (3, 5, 8) OR type = 1 AND (via IS DISTINCT FROM 3 OR alert IS TRUE)
                    AND (via IS DISTINCT FROM 2 OR presentation IS NULL OR presentation & 7 <> 0))
            UNION ALL
            SELECT app, install_id, occurred_at, seq, event_id, device_at, notification_key, scatter, 0, goal, value, currency,
                rules
            FROM reached
        ), ranked AS MATERIALIZED (
            SELECT *, row_number() OVER (ORDER BY app, install_id, occurred_at, seq, event_id, device_at) AS rank FROM point
        ), told AS (
            SELECT *, max(rank) FILTER (WHERE kind = 1) OVER before AS response,
                max(rank) FILTER (WHERE kind = 2) OVER before AS receipt
            FROM ranked WINDOW before AS (PARTITION BY app, install_id ORDER BY rank)
        ), placed AS (
            SELECT *, row_number() OVER (
                PARTITION BY app, install_id, (occurred_at AT TIME ZONE 'UTC')::date ORDER BY rank DESC)
                <= \(DeliveryGoals.mostADay) AS counted
            FROM told WHERE kind = 0
        )
        SELECT g.app, g.install_id, g.event_id, g.device_at, g.occurred_at, g.rank, g.goal, g.value, g.currency, g.counted,
            CASE WHEN g.counted AND g.rules & 1 = 0 THEN coalesce(g.notification_key, r.notification_key) END AS response_key,
            CASE WHEN g.notification_key IS NULL THEN r.scatter ELSE g.scatter END AS response_scatter,
            CASE WHEN g.counted AND g.rules & 1 = 0 AND g.notification_key IS NULL THEN r.occurred_at END AS response_at,
            CASE WHEN g.counted AND g.rules & 2 = 0 THEN coalesce(g.notification_key, c.notification_key) END AS receipt_key,
            CASE WHEN g.notification_key IS NULL THEN c.scatter ELSE g.scatter END AS receipt_scatter,
            CASE WHEN g.counted AND g.rules & 2 = 0 AND g.notification_key IS NULL THEN c.occurred_at END AS receipt_at
        FROM placed AS g
        LEFT JOIN ranked AS r ON r.rank = g.response AND r.occurred_at >= g.occurred_at - interval '168 hours'
        LEFT JOIN ranked AS c ON c.rank = g.receipt AND c.occurred_at >= g.occurred_at - interval '168 hours'
        """
    }

    /// The apps whose receipts and responses the generation keeps for their goals in this shard.
    static func goalApps(shard: Int16, of copy: LogCopy) -> String {
        let generation =
            copy.generation.map { "\($0)" } ?? "(SELECT id FROM projection.generation WHERE state = 'live')"
        return """
            SELECT unnest(p.goal_apps) AS app FROM projection.progress AS p
            WHERE p.generation = \(generation) AND p.shard = \(shard)
            """
    }

    /// A row for each goal, rule and delivery that it counts for: of a delivery, the last goals by each rule.
    static func goalCredits(of copy: LogCopy) -> String {
        """
        WITH credit AS (
            SELECT app, install_id, rank, goal, value, currency, 1::smallint AS rule, response_key AS key,
                response_scatter AS scatter, response_at AS since, occurred_at
            FROM recount_goal WHERE response_key IS NOT NULL
            UNION ALL
            SELECT app, install_id, rank, goal, value, currency, 2::smallint, receipt_key, receipt_scatter, receipt_at,
                occurred_at
            FROM recount_goal WHERE receipt_key IS NOT NULL
        ), counting AS (
            SELECT d.delivery, d.app, d.install_id, d.notification_key, d.day, d.category, d.campaign, d.variant, g.goal,
                coalesce(g.value, 0) AS value, g.currency, g.rule,
                greatest(0, coalesce((extract(epoch FROM g.occurred_at - coalesce(
                    g.since, CASE g.rule WHEN 1 THEN d.first_response_at ELSE d.first_receipt_at END)) * 1000000)::bigint, 0))
                    AS elapsed,
                row_number() OVER (PARTITION BY d.delivery, g.rule ORDER BY g.rank DESC) AS place
            FROM credit AS g JOIN recount_delivery AS d ON \(copy.scatter.delivery("d")) = g.scatter
                AND CASE WHEN d.notification_key = g.key AND d.install_id = g.install_id AND d.app = g.app
                    THEN true ELSE false END
            WHERE NOT d.silent
        )
        SELECT *, \(GoalTimes.sql("elapsed")) AS bucket,
            row_number() OVER (PARTITION BY delivery, rule, goal, currency ORDER BY elapsed) = 1 AS is_quickest
        FROM counting WHERE place <= \(DeliveryGoals.most)
        """
    }
}

extension Recount {
    /// What each goal counts for, as its row holds it.
    package static let goal = Recount(
        table: "goal", projector: DeliveryTable.projector,
        key: [
            Column("app", .app), Column("install_id"), Column("event_id"), Column("device_at", .time),
        ],
        values: [
            Column("occurred_at", .time), Column("goal", .word), Column("currency"), Column("value"), Column("counted"),
            Column("response_key"), Column("response_at", .time), Column("receipt_key"), Column("receipt_at", .time),
        ],
        opened: { "projection.goal_\($0)" },
        sql: """
            SELECT app, install_id, event_id, device_at, occurred_at, goal, currency, value, counted, response_key, response_at,
                receipt_key, receipt_at
            FROM recount_goal
            """,
        behind: "false")
}
