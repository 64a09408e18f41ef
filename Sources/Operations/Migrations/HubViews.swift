internal import Postgres
internal import Projections

/// What a hub has otherwise than every database: the relations behind the views of analysts, whose rows are in the
/// cells.
///
/// The views of `analytics` are made of the relations in `counted`, whose text is the same everywhere. Here those have
/// the rows of all cells.
enum HubViews {
    /// Relations whose rows are those of all cells, one after another, by the definition that makes them.
    private static let listed: [String: [String]] = {
        let events = ["events", "receipts", "opens", "action_taps", "story_events"]
        var listed = [
            "view_events": events.map { "analytics.\($0)" }, "view_message_delivery": ["counted.message_delivery"],
            "view_goal_base": ["counted.goal_app"], "view_installs": ["counted.installs", "counted.first_day"],
        ]
        for view in ["batches", "app_batches", "rejected_events", "deliveries", "goals"] {
            listed["view_\(view)"] = ["analytics.\(view)"]
        }
        for projector in Projectors.all { listed["view_counted_\(projector.name)"] = ["counted.\(projector.name)"] }
        // These count when they are read.
        for view in [
            "category_version_funnel", "hour_funnel", "device_hour_funnel", "stack_depth_funnel", "pressure_funnel",
            "experiment_count",
        ] { listed["view_\(view)"] = ["counted.\(view)"] }
        return listed
    }()

    /// Views whose rows of all cells are put together, and how.
    private static let merged = [
        "view_apps": """
        SELECT cluster.gather('analytics.apps');
        CREATE OR REPLACE VIEW analytics.apps AS
        SELECT
            app.slug AS app, app.time_zone,
            EXISTS (SELECT FROM hub.apps AS theirs WHERE theirs.app = app.slug AND theirs.days_moving) AS days_moving,
            app.created_at
        FROM log.app AS app;
        """,
        "view_projections": """
        SELECT cluster.gather('analytics.projections');
        CREATE OR REPLACE VIEW analytics.projections AS
        SELECT
            name, min(version) AS version, sum(position)::bigint AS position, sum(lag)::bigint AS lag,
            max(lag_seconds) AS lag_seconds,
            CASE WHEN bool_or(status = 'stopped') THEN 'stopped' WHEN bool_or(status = 'stalled') THEN 'stalled'
                ELSE 'running' END AS status,
            (array_agg(stopped_batch ORDER BY stopped_at, cell))[1] AS stopped_batch, min(stopped_at) AS stopped_at,
            string_agg('cell ' || cell || ': ' || stopped_because, '; ' ORDER BY stopped_at, cell) AS stopped_because
        FROM hub.projections
        GROUP BY name;
        """,
        // Days are proved where every cell has proved them, and stand as the newest verification of each left them.
        "view_proofs": """
        SELECT cluster.gather('analytics.proofs');
        CREATE OR REPLACE VIEW analytics.proofs AS
        SELECT
            asked.app, asked.since, min(theirs.verified_at) AS verified_at, bool_and(theirs.proved) AS proved,
            sum(theirs.differing_cells)::bigint AS differing_cells, sum(theirs.position)::bigint AS position,
            bool_and(theirs.unchanged) AS unchanged
        FROM (SELECT DISTINCT app, since FROM hub.proofs) AS asked
        CROSS JOIN LATERAL (
            SELECT DISTINCT ON (p.cell) p.* FROM hub.proofs AS p
            WHERE p.app = asked.app AND (p.since IS NULL OR p.since <= asked.since)
            ORDER BY p.cell, p.verified_at DESC
        ) AS theirs
        GROUP BY asked.app, asked.since
        HAVING count(*) = (SELECT count(*) FROM cluster.cell WHERE NOT is_hub);
        """,
        // A report that is repeated after a move of its install is in both cells.
        "view_client_drops": """
        SELECT cluster.gather('analytics.client_drops');
        CREATE OR REPLACE VIEW analytics.client_drops AS
        SELECT DISTINCT ON (app, drop_id) app, drop_id, received_at, key, install_id, count, since, reason, batch
        FROM hub.client_drops ORDER BY app, drop_id, received_at, cell;
        """,
        "view_data_quality": """
        SELECT cluster.gather('analytics.data_quality');
        CREATE OR REPLACE VIEW analytics.data_quality AS
        SELECT
            app, day, key, accepted::bigint AS accepted, duplicate::bigint AS duplicate, rejected::bigint AS rejected, (
                SELECT coalesce(jsonb_object_agg(reason, events), '{}')
                FROM (
                    SELECT part.key AS reason, sum(part.value::bigint) AS events
                    FROM unnest(reasons) AS one, jsonb_each_text(one) AS part GROUP BY part.key
                ) AS refused
            ) AS rejected_by_reason,
            corrected::bigint AS corrected, clamped::bigint AS clamped, late::bigint AS late,
            least(client_dropped, 9223372036854775807)::bigint AS client_dropped, other::bigint AS other
        FROM (
            SELECT
                app, day, key, sum(accepted) AS accepted, sum(duplicate) AS duplicate, sum(rejected) AS rejected,
                array_agg(rejected_by_reason) AS reasons, sum(corrected) AS corrected, sum(clamped) AS clamped,
                sum(late) AS late, sum(client_dropped) AS client_dropped, sum(other) AS other
            FROM (
                SELECT app, day, key, accepted, duplicate, rejected, rejected_by_reason, corrected, clamped, late,
                    0 AS client_dropped, other
                FROM hub.data_quality
                UNION ALL
                SELECT d.app, (d.received_at AT TIME ZONE app.time_zone)::date, d.key,
                    0, 0, 0, NULL, 0, 0, 0, d.count, 0
                FROM analytics.client_drops AS d JOIN log.app AS app ON app.slug = d.app
            ) AS part
            GROUP BY app, day, key
            HAVING sum(accepted) + sum(duplicate) + sum(rejected) + sum(client_dropped) > 0
        ) AS total;
        """,
    ]

    /// The definition that a hub has instead.
    static func definition(_ local: Migration) -> Migration {
        let shown = (listed[local.name] ?? []).map { "SELECT cluster.show_all('\($0)');" }
        let more = (shown + [merged[local.name]].compactMap(\.self)).joined(separator: "\n")
        return more.isEmpty ? local : Migration(name: local.name, sql: "\(local.sql)\n\(more)")
    }
}
