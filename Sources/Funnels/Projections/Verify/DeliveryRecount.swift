internal import EventLog

extension RecountTables {
    /// A row for each delivery, with all that its events say together. The first of something in event order is the
    /// least (rank, something), packed into one number, so that each needs no sort. Ranks continue from delivery to
    /// delivery, which costs less than starting again. The bits of `types`: 2 received, 4 expanded, 8 opened, 16
    /// dismissed, 32 action tapped; of stories 64 started, 128 page shown, 256 action tapped, 512 finished, 1024 fallback
    /// shown.
    ///
    /// Nearly all deliveries have one device and one context, whose words are then those of the delivery. Only of the
    /// others, which are `mixed`, events are read again, for the first word of each kind.
    ///
    /// What many recounts read comes first in the row, and none of it is NULL, so that PostgreSQL finds it quickly.
    static func deliveries(of copy: LogCopy) -> String {
        """
        WITH ranked AS (
            SELECT *, row_number() OVER (
                ORDER BY install_id, notification_key, app, occurred_at, seq, event_id, device_at) << 32 AS rank
            FROM recount_event AS e\(copy.days == nil ? "" : " WHERE NOT EXISTS (\(LogCopy.beganEarlier))")
        ), told AS MATERIALIZED (
            SELECT
                install_id, notification_key, app, min(rank) >> 32 AS delivery, count(*) AS events,
                min(context_id) AS context, min(device_id) AS device,
                min(context_id) IS DISTINCT FROM max(context_id) OR min(device_id) IS DISTINCT FROM max(device_id)
                    OR bool_or(is_spelled) AS is_mixed,
                min(occurred_at) AS first_occurred_at, max(occurred_at) AS last_occurred_at,
                min(device_at) AS first_device_at, max(device_at) AS last_device_at,
                min(occurred_at) FILTER (WHERE type = 1) AS first_receipt_at,
                min(occurred_at) FILTER (WHERE type IN (3, 4, 5, 8)) AS answered_at,
                min(rank | launch) AS launch, min(rank | origin) AS origin,
                -- 2^31 and above: an opening, a story's call to action.
                min(rank | CASE type WHEN 3 THEN 2147483649 WHEN 8 THEN 2147483650 ELSE action_id END)
                    FILTER (WHERE type IN (3, 5, 8)) AS first_response,
                min(occurred_at) FILTER (WHERE type IN (3, 5, 8)) AS first_response_at,
                min(occurred_at) FILTER (WHERE type = 3) AS opened_at,
                bool_or(type IN (3, 8)) IS FALSE AND min(action_id) = max(action_id) AS sole,
                min(rank | coalesce(media_kind, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_kind,
                min(rank | coalesce(media_network, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_network,
                min(rank | media_outcome) AS media_outcome,
                min(rank | coalesce(media_format, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_format,
                min(rank | coalesce(media_reason, 0)) FILTER (WHERE media_outcome IS NOT NULL) AS media_reason,
                min(rank | least(coalesce(media_bytes, 0), 2147483647)) FILTER (WHERE media_outcome IS NOT NULL) AS media_bytes,
                -- 2^31: it does not say.
                min(rank | coalesce(media_ms::bigint, 2147483648)) FILTER (WHERE media_outcome IS NOT NULL) AS media_ms,
                -- A time in microseconds has 64 bits: two halves of the same event.
                min(rank | ((extract(epoch FROM notification_sent_at) * 1000000)::bigint >> 32 & 4294967295)) AS sent_high,
                min(rank | ((extract(epoch FROM notification_sent_at) * 1000000)::bigint & 4294967295)) AS sent_low,
                min(occurred_at) FILTER (WHERE type = 1 AND via = 1) AS extension_at,
                max(rank | fetch_result) AS fetch_result,
                max(summary_argument_count) AS items,
                bit_or(1 << type) AS types,
                bool_and(type = 1 AND via IS NOT DISTINCT FROM 3 AND alert IS NOT TRUE) AS silent,
                bool_or(media_outcome IN (1, 2)) AS media_attached,
                bool_and(presentation IS NOT NULL AND presentation & 7 = 0) FILTER (WHERE type = 1 AND via = 2)
                    AS shown_to_nobody,
                max(page_index) AS furthest, max(page_count) AS page_count
            FROM ranked GROUP BY install_id, notification_key, app
        ), mixed AS (
            SELECT delivery,
                \((words + states).map { "min(rank | \($0.name)) AS \($0.name)" }.joined(separator: ", "))
            FROM (
                SELECT d.delivery, e.*, row_number() OVER (
                    ORDER BY d.delivery, e.occurred_at, e.seq, e.event_id, e.device_at) << 32 AS rank
                FROM told AS d JOIN recount_event AS e ON \(ofDelivery(copy))
                WHERE d.is_mixed
            ) AS e
            GROUP BY delivery
        ), facts AS (
            SELECT
                delivery, events, told.app, told.install_id, told.notification_key, told.is_mixed, told.context, told.device,
                first_occurred_at, last_occurred_at, first_device_at, last_device_at, first_receipt_at, answered_at,
                (first_occurred_at AT TIME ZONE app.time_zone)::date AS day,
                (coalesce(launch, 0) & 4294967295)::smallint AS launch,
                CASE coalesce(first_response, 0) & 4294967295 WHEN 2147483649 THEN -1 WHEN 2147483650 THEN -2
                    ELSE coalesce(first_response, 0) & 4294967295 END::integer AS first_response,
                first_response_at, opened_at, coalesce(sole, false) AS sole,
                (coalesce(origin, 0) & 4294967295)::smallint AS origin,
                (coalesce(media_kind, 0) & 4294967295)::smallint AS media_kind,
                (coalesce(media_network, 0) & 4294967295)::smallint AS media_network,
                (coalesce(media_outcome, 0) & 4294967295)::smallint AS media_outcome,
                (coalesce(media_format, 0) & 4294967295)::integer AS media_format,
                (coalesce(media_reason, 0) & 4294967295)::smallint AS media_reason,
                coalesce(media_bytes, 0) & 4294967295 AS media_bytes,
                nullif(media_ms & 4294967295, 2147483648) AS media_ms,
                CASE WHEN NOT silent AND sent_high IS NOT NULL THEN (extract(epoch FROM extension_at) * 1000000)::bigint
                    - ((sent_high << 32) | (sent_low & 4294967295)) END AS sending,
                NOT silent AND extension_at IS NOT NULL AND sent_high IS NULL AS unsent,
                CASE WHEN NOT silent AND sent_high IS NULL THEN extension_at END AS extension_at,
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
            FROM told JOIN log.app AS app ON app.id = told.app
        )
        SELECT
            f.delivery, f.app, f.day,
            \(words.map { "coalesce(m.\($0.name) & 4294967295, \($0.table).\($0.name), 0)::integer AS \($0.name)" }.joined(separator: ",\n    ")),
            f.first_response, f.silent, f.sole, f.received, f.expanded, f.opened, f.dismissed, f.action_tapped,
            f.story_action_tapped, f.media_attached, f.responded, f.received AND f.responded AS received_responded, f.unanswered,
            f.unanswered AND f.shown_to_nobody AS suppressed, f.unsent, f.story_started, f.story_finished, f.story_exit,
            f.furthest, f.pages, f.media_kind, f.media_network, f.media_outcome, f.media_reason, f.media_format, f.items,
            f.fetch_result, f.origin, f.launch,
            \(states.map { "coalesce(m.\($0.name) & 4294967295, \($0.table).\($0.name), 0)::smallint AS \($0.name)" }.joined(separator: ", ")),
            f.events, f.first_occurred_at, f.last_occurred_at, f.first_device_at, f.last_device_at,
            f.media_bytes, f.media_ms, f.sending, f.first_receipt_at, f.extension_at, f.opened_at, f.first_response_at,
            f.answered_at, f.install_id, f.notification_key
        FROM facts AS f
        LEFT JOIN recount_context AS c ON c.id = f.context AND NOT f.is_mixed
        LEFT JOIN recount_device AS d ON d.id = f.device AND NOT f.is_mixed
        LEFT JOIN mixed AS m ON m.delivery = f.delivery
        """
    }

    /// The words of a delivery, each with the table of `deliveries` that knows it: `c`, its context, or `d`, its device.
    private static let words = [
        ("category", "c"), ("campaign", "c"), ("variant", "c"), ("thread", "c"), ("platform", "d"),
        ("app_version", "d"),
        ("os_version", "d"), ("device_model", "d"), ("locale", "d"), ("interruption_level", "c"), ("topic", "c"),
        ("analytics_label", "c"),
    ].map { (name: $0, table: $1) }

    /// What else the device says of itself.
    private static let states = [("\"authorization\"", "d"), ("reach", "d")].map { (name: $0, table: $1) }
}
