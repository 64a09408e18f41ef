internal import EventLog
package import Postgres
internal import Projections

/// The views of a hub: those of `analytics`, with the same columns and comments, over all cells.
///
/// Most follow from the text that every database has. Each cell gives its own ids to words, so a hub reads the words
/// themselves, from the views in schema `cells`; what those count, it adds up. What a view joins to ids then joins to
/// words.
package enum HubViews {
    /// The tables of counts, each with its projector.
    private static let tables = Projectors.all.flatMap { projector in projector.tables.map { (projector, $0) } }

    /// What every database offers to a hub.
    package static let offered = Migration(
        name: "view_cells",
        sql: """
            -- Why: a hub adds up what the cells have counted, and each cell has its own ids for words. Made of what the projectors
            -- declare.
            \(tables.map { $1.cellView(of: $0) }.joined(separator: "\n"))

            CREATE OR REPLACE VIEW cells.dated_delay AS
            SELECT d.app, d.day, campaign.value AS campaign, coalesce(variant.value, '') AS variant, d.bucket, d.deliveries
            FROM sends.dated_delay AS d
            JOIN log.word AS campaign ON campaign.id = d.campaign
            LEFT JOIN log.word AS variant ON variant.id = d.variant;

            -- The deliveries of the messages in the FCM export, for the campaigns of these. The bounds of a key are those of
            -- sends.fcm_campaigns.
            CREATE OR REPLACE VIEW cells.message_delivery AS
            SELECT
                m.app, m.message_key, m.instance_id, m.first_at, campaign.value AS campaign,
                coalesce(variant.value, '') AS variant, p.first_occurred_at, p.install_id
            FROM sends.fcm_message AS m
            CROSS JOIN LATERAL (
                SELECT
                    ((CASE WHEN m.message_key ~ '^[0-9]{10}' THEN left(m.message_key, 10)::bigint >> 6
                        ELSE hashtextextended(m.message_key, 0) >> 16 END & 8388607) << 40)
                    | ((hashtextextended(m.message_key, 0) & 65535) << 24) AS first
            ) AS key
            JOIN projection.delivery AS p
                ON p.key BETWEEN key.first AND key.first + 16777215
                AND p.notification_key = m.message_key AND p.app = m.app AND p.campaign <> 0
                AND (p.generation = 0 OR p.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
                AND \(ClusterMap.isShown("p.shard"))
            JOIN log.word AS campaign ON campaign.id = p.campaign
            LEFT JOIN log.word AS variant ON variant.id = p.variant;

            -- For an export of all cells: batches with events that another cell had before, and how far a cell has forgotten shards.
            CREATE OR REPLACE VIEW cells.moved_batch AS
            SELECT
                b.number AS batch, source.name AS source, b.moved_until AS until,
                ARRAY(SELECT (s.place - 1)::smallint FROM unnest(b.shard_events) WITH ORDINALITY AS s (events, place)
                    WHERE s.events > 0) AS shards
            FROM log.batch AS b LEFT JOIN cluster.cell AS source ON source.cell = b.moved_from
            WHERE b.moved_from IS NOT NULL;
            CREATE OR REPLACE VIEW cells.forgotten AS SELECT shard, until FROM log.forgotten;

            CREATE OR REPLACE VIEW cells.goal_base AS
            SELECT
                b.app, b.day, coalesce(category.value, '') AS category, coalesce(campaign.value, '') AS campaign,
                coalesce(variant.value, '') AS variant, b.received, b.responded
            FROM projection.goal_base AS b
            LEFT JOIN log.word AS category ON category.id = b.category
            LEFT JOIN log.word AS campaign ON campaign.id = b.campaign
            LEFT JOIN log.word AS variant ON variant.id = b.variant
            WHERE \(ClusterMap.isShown("b.shard"));

            GRANT SELECT ON cells.dated_delay, cells.message_delivery, cells.moved_batch, cells.forgotten, cells.goal_base
                TO bellwether_analyst;
            """)

    /// Views whose rows are those of all cells, one after another.
    private static let listed = [
        "view_events": ["events", "receipts", "opens", "action_taps", "story_events"],
        "view_batches": ["batches"], "view_app_batches": ["app_batches"], "view_rejected_events": ["rejected_events"],
        "view_deliveries": ["deliveries"], "view_installs": ["installs"], "view_goals": ["goals"],
    ]

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
                SELECT d.app, (d.received_at AT TIME ZONE app.time_zone)::date, d.key, 0, 0, 0, NULL, 0, 0, 0, d.count, 0
                FROM analytics.client_drops AS d JOIN log.app AS app ON app.slug = d.app
            ) AS part
            GROUP BY app, day, key
            HAVING sum(accepted) + sum(duplicate) + sum(rejected) + sum(client_dropped) > 0
        ) AS total;
        """,
        "view_cells": """
        \((tables.map(\.1.name) + ["dated_delay", "message_delivery", "goal_base"]).map { "SELECT cluster.gather('cells.\($0)');" }.joined(separator: "\n"))
        CREATE OR REPLACE VIEW hub.closing_button AS
        SELECT b.app, b.category, b.action_id FROM registry.registered_button AS b WHERE b.answer IN ('close', 'decline');
        """,
    ]

    /// A view that each cell computes from its own deliveries. An install is in one cell, so a hub adds up what the
    /// cells counted.
    private struct Summed {
        let keys: [String]
        let counts: [String]
        /// Sums of fractions.
        var amounts: [String] = []
        let rates: [(name: String, part: String, whole: String)]
        /// A time of which each cell has its own, and all together the earliest.
        var oldest: [String] = []

        func definition(of view: String) -> String {
            let columns =
                keys + counts.map { "\($0)::bigint AS \($0)" } + amounts
                + rates.map { "round(\($0.part) / nullif(\($0.whole), 0), 4) AS \($0.name)" } + oldest
            let sums = (counts + amounts).map { "sum(\($0)) AS \($0)" } + oldest.map { "min(\($0)) AS \($0)" }
            return """
                SELECT cluster.gather('analytics.\(view)');
                CREATE OR REPLACE VIEW analytics.\(view) AS
                SELECT \(columns.joined(separator: ", "))
                FROM (
                    SELECT \((keys + sums).joined(separator: ", "))
                    FROM hub.\(view)
                    GROUP BY \(keys.joined(separator: ", "))
                ) AS total;
                """
        }
    }

    private static let rates = [
        (name: "response_rate", part: "received_responded", whole: "received"),
        (name: "engagement_rate", part: "received_engaged", whole: "received"),
    ]

    /// Those views, with their columns in order.
    private static let summed = [
        "stack_depth_funnel": Summed(
            keys: ["app", "day", "scope", "depth_bucket"], counts: funnelCounts, rates: funnelRates,
            oldest: ["as_of"]),
        "category_version_funnel": Summed(
            keys: ["app", "day", "category", "platform", "app_version"], counts: funnelCounts, rates: funnelRates),
        "hour_funnel": byHour, "device_hour_funnel": byHour,
        "pressure_funnel": Summed(
            keys: ["app", "day", "category", "pressure"],
            counts: [
                "received", "received_responded", "received_engaged", "turned_off", "compared", "compared_responded",
            ],
            amounts: ["expected_responded"],
            rates: rates + [(name: "response_ratio", part: "compared_responded", whole: "expected_responded")],
            oldest: ["as_of"]),
    ]
    private static let byHour = Summed(
        keys: ["app", "day", "category", "hour"],
        counts: [
            "received", "expanded", "opened", "action_tapped", "story_action_tapped", "received_responded",
            "received_engaged", "dismissed", "unanswered", "suppressed",
        ], rates: rates)
    private static let funnelRates = rates + [(name: "receipt_coverage", part: "received", whole: "delivered")]
    private static let funnelCounts = [
        "delivered", "received", "inferred", "expanded", "opened", "action_tapped", "story_action_tapped", "responded",
        "received_responded", "engaged", "received_engaged", "dismissed", "unanswered", "suppressed", "media_attached",
    ]

    /// Views of what a cell offers or keeps.
    private static let readWhereItIs = [
        "view_dated_delay", "view_goal_base", "view_kept_state", "view_computed_stack_depth", "view_computed_pressure",
    ]

    /// The definition that a hub has instead.
    static func definition(_ local: Migration) -> Migration {
        if let views = listed[local.name] {
            let all = views.map { "SELECT cluster.show_all('analytics.\($0)');" }.joined(separator: "\n")
            return Migration(name: local.name, sql: "\(local.sql)\n\(all)")
        }
        let view = local.name.replacing(/^view_/, with: "")
        if let merging = merged[local.name] ?? summed[view]?.definition(of: view) {
            return Migration(name: local.name, sql: "\(local.sql)\n\(merging)")
        }
        // What a cell offers is read where it is.
        guard !readWhereItIs.contains(local.name) else { return local }
        if local.name == "view_experiment_count" {
            let offered = "cells.experiment_count"
            return Migration(name: local.name, sql: "\(local.sql)\nSELECT cluster.gather('\(offered)');")
        }
        return Migration(name: local.name, sql: overWords(local.sql))
    }

    /// The SQL of a view, reading the counts of all cells in place of those of this database.
    private static func overWords(_ sql: String) -> String {
        let counted = Set(tables.map(\.1.name) + ["goal_base"])
        var text = sql.replacing(/projection\.(\w+)/) { match in
            counted.contains(String(match.1)) ? "hub.\(match.1)" : match.0
        }
        // Other texts read the tables of their own database, with ids.
        for view in ["dated_delay", "day_story", "fcm_campaigns"] {
            text = text.replacing("sends.\(view)", with: "hub.\(view)")
        }
        text = text.replacing("cells.experiment_count", with: "hub.experiment_count")
        guard text != sql else { return sql }
        // Where the campaigns of FCM's messages are looked up among the deliveries of this database.
        text = text.replacing(
            /LEFT JOIN projection\.delivery AS p\s+ON p\.key BETWEEN[^()]*\((?:[^()]|\([^()]*\))*\)/
        ) { _ in
            """
            LEFT JOIN hub.message_delivery AS p
                ON p.app = m.app AND p.message_key = m.message_key AND p.instance_id = m.instance_id
                AND p.first_at >= d.since AND p.first_at < d.until
            """
        }
        return text.replacing("registry.closing_button", with: "hub.closing_button")
            .replacing(/LEFT JOIN log\.word AS (\w+) ON (\w+)\.id = ([\w.]+)/) { match in
                "CROSS JOIN LATERAL (SELECT \(match.3) AS value) AS \(match.1)"
            }
    }
}
