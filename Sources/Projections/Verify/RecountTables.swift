internal import EventLog
package import Postgres

/// What recounts are made of: temporary relations that hold one shard as it was at one position, anew in each
/// transaction.
///
/// - `recount_event`, a view: the events that count. Those of batches beyond the position do not, nor those of deliveries
///   that retention has sealed.
/// - `recount_delivery`: a row for each delivery, with all that its events say together.
/// - `recount_tap`: a row for each action that was tapped on a delivery.
/// - `recount_page`: a row for each page of a delivery's story with an event of it among the story's first 1,000.
package enum RecountTables {
    /// Makes them within the open transaction, whose end takes them away.
    package static func make(
        shard: Int16, position: Int64, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(script: settings)
        try connection.execute(script: events(shard: shard, position: position))
        for (table, sql) in [
            ("recount_delivery", deliveries), ("recount_tap", taps), ("recount_page", pages),
        ] {
            try connection.execute(script: "CREATE TEMPORARY TABLE \(table) ON COMMIT DROP AS \(sql)")
            try connection.execute(script: "ANALYZE \(table)")
        }
    }

    /// Memory enough to sort a big shard in a few runs. No loop within a loop: all joins are by equality, and where
    /// statistics are missing the planner takes millions of rows for one.
    private static let settings = "SET LOCAL work_mem = '64MB'; SET LOCAL enable_nestloop = off"

    /// Rows sort fast by `scatter`, which is one number; which delivery they belong to their names decide.
    private static func events(shard: Int16, position: Int64) -> String {
        """
        CREATE TEMPORARY VIEW recount_event AS
        SELECT
            hashtextextended(e.notification_key, 0) # uuid_hash_extended(e.install_id, 0) AS scatter,
            e.app, e.install_id, e.notification_key COLLATE "C" AS notification_key,
            b.number AS batch, e.occurred_at, coalesce(e.seq, 0) AS seq, e.event_id, e.device_at, e.type,
            e.category, e.campaign, e.variant, e.thread, e.platform, e.app_version, e.origin, e.alert, e.via,
            e.presentation, e.fetch_result, e.media_kind, e.media_network, e.media_outcome, e.summary_argument_count,
            e.action_id, e.activation, e.page_count, e.page_index
        FROM log.event AS e JOIN log.batch AS b ON b.id = e.batch_id
        WHERE e.shard = \(shard) AND b.number <= \(position)
            AND NOT EXISTS (
                SELECT FROM projection.sealed_delivery AS s
                WHERE s.shard = \(shard) AND s.app = e.app AND s.install_id = e.install_id
                    AND s.notification_key = e.notification_key COLLATE "C")
        """
    }

    /// The first of something in event order is the least (rank, something), both in one number: no sort for each.
    /// The bits of `types`: 2 received, 4 expanded, 8 opened, 16 dismissed, 32 action tapped; of stories 64 started, 128 page
    /// shown, 256 action tapped, 512 finished, 1024 fallback shown.
    private static let deliveries = """
        WITH ranked AS (
            SELECT *, row_number() OVER (
                PARTITION BY scatter, install_id, notification_key, app
                ORDER BY occurred_at, seq, event_id, device_at) AS rank
            FROM recount_event
        ), told AS (
            SELECT
                app, install_id, notification_key, count(*) AS events,
                min(occurred_at) AS first_occurred_at, max(occurred_at) AS last_occurred_at,
                min(device_at) AS first_device_at, max(device_at) AS last_device_at,
                min(occurred_at) FILTER (WHERE type = 1) AS first_receipt_at,
                min(rank << 32 | category) AS category, min(rank << 32 | campaign) AS campaign,
                min(rank << 32 | variant) AS variant, min(rank << 32 | thread) AS thread,
                min(rank << 32 | platform) AS platform, min(rank << 32 | app_version) AS app_version,
                min(rank << 32 | origin) AS origin,
                min(rank << 32 | coalesce(media_kind, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_kind,
                min(rank << 32 | coalesce(media_network, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_network,
                min(rank << 32 | media_outcome) AS media_outcome,
                max(rank << 32 | fetch_result) AS fetch_result,
                max(summary_argument_count) AS items,
                bit_or(1 << type) AS types,
                bool_and(type = 1 AND via IS NOT DISTINCT FROM 3 AND alert IS NOT TRUE) AS silent,
                bool_or(media_outcome IN (1, 2)) AS media_attached,
                bool_and(presentation IS NOT NULL AND presentation & 7 = 0) FILTER (WHERE type = 1 AND via = 2)
                    AS shown_to_nobody,
                max(page_index) AS furthest, max(page_count) AS page_count
            FROM ranked GROUP BY scatter, install_id, notification_key, app
        ), flagged AS (
            SELECT
                told.app, install_id, notification_key, events, first_occurred_at, last_occurred_at,
                first_device_at, last_device_at, first_receipt_at,
                (first_occurred_at AT TIME ZONE coalesce(zone.time_zone, app.time_zone))::date AS day,
                (coalesce(category, 0) & 4294967295)::integer AS category,
                (coalesce(campaign, 0) & 4294967295)::integer AS campaign,
                (coalesce(variant, 0) & 4294967295)::integer AS variant,
                (coalesce(thread, 0) & 4294967295)::integer AS thread,
                (coalesce(platform, 0) & 4294967295)::integer AS platform,
                (coalesce(app_version, 0) & 4294967295)::integer AS app_version,
                (coalesce(origin, 0) & 4294967295)::smallint AS origin,
                (coalesce(media_kind, 0) & 4294967295)::smallint AS media_kind,
                (coalesce(media_network, 0) & 4294967295)::smallint AS media_network,
                (coalesce(media_outcome, 0) & 4294967295)::smallint AS media_outcome,
                (coalesce(fetch_result, 0) & 4294967295)::smallint AS fetch_result,
                least(coalesce(items, 1), 2147483647)::integer AS items,
                silent,
                NOT silent AND types & 2 <> 0 AS received,
                types & (4 | 64 | 128 | 256 | 512 | 1024) <> 0 AS expanded,
                types & 8 <> 0 AS opened,
                types & 16 <> 0 AS dismissed,
                types & 32 <> 0 AS action_tapped,
                types & 256 <> 0 AS story_action_tapped,
                NOT silent AND coalesce(media_attached, false) AS media_attached,
                types & (8 | 32 | 256) <> 0 AS responded,
                NOT silent AND types & (8 | 16 | 32 | 256) = 0 AS unanswered,
                coalesce(shown_to_nobody, false) AS shown_to_nobody,
                types & 64 <> 0 AS story_started,
                types & 512 <> 0 AS story_finished,
                CASE
                    WHEN types & (64 | 128 | 256 | 512 | 1024) = 0 THEN 0
                    WHEN types & 256 <> 0 THEN 1
                    WHEN types & 512 <> 0 THEN 2
                    WHEN types & 1024 <> 0 AND types & (64 | 128) = 0 THEN 3
                    ELSE 4
                END::smallint AS story_exit,
                coalesce(furthest, -1)::smallint AS furthest,
                greatest(coalesce(page_count, 0), coalesce(furthest, -1) + 1)::smallint AS pages
            FROM told
            JOIN log.app AS app ON app.id = told.app
            LEFT JOIN projection.zone AS zone ON zone.app = told.app
        )
        SELECT *, received AND responded AS received_responded, unanswered AND shown_to_nobody AS suppressed FROM flagged
        """

    /// A tap not before the earliest receipt times the action; the first such does.
    private static let taps = """
        SELECT
            d.app, d.install_id, d.notification_key, d.day, d.category, e.action_id,
            count(*) AS taps,
            count(*) FILTER (WHERE e.activation = 1) AS foreground_taps,
            (extract(epoch FROM min(e.occurred_at) FILTER (WHERE e.occurred_at >= d.first_receipt_at)
                - d.first_receipt_at) * 1000000)::bigint AS microseconds
        FROM recount_event AS e
        JOIN recount_delivery AS d USING (app, install_id, notification_key)
        WHERE e.type = 5
        GROUP BY d.app, d.install_id, d.notification_key, d.day, d.category, d.first_receipt_at, e.action_id
        """

    /// A page dwells until the next start, page, tap or finish, whichever comes; a start leaves it without dwell.
    private static let pages = """
        WITH placed AS (
            SELECT
                scatter, app, install_id, notification_key, occurred_at, seq, event_id, device_at, type, page_index,
                row_number() OVER (
                    PARTITION BY scatter, install_id, notification_key, app
                    ORDER BY occurred_at, seq, event_id, device_at) AS place
            FROM recount_event WHERE type BETWEEN 6 AND 10
        ), followed AS (
            SELECT *, lead(type) OVER story AS next_type, lead(occurred_at) OVER story - occurred_at AS dwell
            FROM placed WHERE place <= 1000 AND type <> 10
            WINDOW story AS (
                PARTITION BY scatter, install_id, notification_key, app
                ORDER BY occurred_at, seq, event_id, device_at)
        ), turned AS (
            SELECT
                *,
                CASE WHEN type = 7 AND next_type <> 6 AND dwell <= interval '60 seconds'
                    THEN trunc(extract(epoch FROM dwell) * 1000)::bigint END AS dwell_ms
            FROM followed WHERE type IN (7, 8)
        ), paged AS (
            SELECT
                app, install_id, notification_key, page_index,
                count(*) FILTER (WHERE type = 7) AS views,
                bool_or(type = 8) AS clicked,
                coalesce(sum(dwell_ms), 0)::bigint AS dwell_ms,
                count(dwell_ms) AS dwells
            FROM turned GROUP BY scatter, install_id, notification_key, app, page_index
        )
        SELECT paged.*, d.day, d.category, d.campaign
        FROM paged JOIN recount_delivery AS d USING (app, install_id, notification_key)
        """
}
