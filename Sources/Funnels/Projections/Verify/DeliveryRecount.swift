internal import EventLog

extension RecountTables {
    /// A row for each delivery, with all that its events say together. Most of it does not depend on their order, or all
    /// events that say something say the same: a hash aggregate finds it. The bits of `types`: 2 received, 4 expanded,
    /// 8 opened, 16 dismissed, 32 action tapped; of stories 64 started, 128 page shown, 256 action tapped, 512 finished,
    /// 1024 fallback shown.
    ///
    /// Only where the order decides, or where events name several devices or contexts, a delivery is `mixed`, and its
    /// events are read again, in event order. The first of something is then the least (rank, something), packed into
    /// one number.
    ///
    /// What many recounts read comes first in the row, and none of it is NULL, so that PostgreSQL finds it quickly.
    static func deliveries(of copy: LogCopy) -> String {
        """
        WITH told AS MATERIALIZED (
            SELECT *, row_number() OVER () AS delivery, (
                least_context <> context OR least_device <> device OR is_spelled OR least_launch <> launch
                    OR least_origin <> origin OR least_sent_at <> sent_at OR least_fetch_result <> fetch_result
                    OR media_receipts > 1 OR least_action <> action OR opened_at = called_at OR opened_at = tapped_at
                    OR called_at = tapped_at) IS TRUE AS is_mixed
            FROM (
                SELECT
                    scatter, app, install_id, notification_key, count(*) AS events,
                    min(context_id) AS least_context, max(context_id) AS context,
                    min(device_id) AS least_device, max(device_id) AS device, bool_or(is_spelled) AS is_spelled,
                    min(occurred_at) AS first_occurred_at, max(occurred_at) AS last_occurred_at,
                    min(device_at) AS first_device_at, max(device_at) AS last_device_at,
                    min(occurred_at) FILTER (WHERE type = 1) AS first_receipt_at,
                    min(occurred_at) FILTER (WHERE type = 1 AND via = 1) AS extension_at,
                    min(occurred_at) FILTER (WHERE type IN (3, 4, 5, 8)) AS answered_at,
                    min(occurred_at) FILTER (WHERE type IN (3, 5, 8)) AS first_response_at,
                    min(occurred_at) FILTER (WHERE type = 3) AS opened_at,
                    min(occurred_at) FILTER (WHERE type = 8) AS called_at,
                    min(occurred_at) FILTER (WHERE action_id IS NOT NULL) AS tapped_at,
                    min(action_id) AS least_action, max(action_id) AS action,
                    min(launch) AS least_launch, max(launch) AS launch,
                    min(origin) AS least_origin, max(origin) AS origin,
                    min(notification_sent_at) AS least_sent_at, max(notification_sent_at) AS sent_at,
                    min(fetch_result) AS least_fetch_result, max(fetch_result) AS fetch_result,
                    count(media_outcome) AS media_receipts, max(media_outcome) AS media_outcome,
                    \(media.map { "max(\($0)) FILTER (WHERE media_outcome IS NOT NULL) AS \($0)" }.joined(separator: ",\n            ")),
                    max(summary_argument_count) AS items,
                    bit_or(1 << type) AS types,
                    bool_and(type = 1 AND via IS NOT DISTINCT FROM 3 AND alert IS NOT TRUE) AS silent,
                    bool_or(media_outcome IN (1, 2)) AS media_attached,
                    bool_and(presentation IS NOT NULL AND presentation & 7 = 0) FILTER (WHERE type = 1 AND via = 2)
                        AS shown_to_nobody,
                    max(page_index) AS furthest, max(page_count) AS page_count
                FROM (
                    -- With an OFFSET, each event is opened once and not for each aggregate.
                    SELECT scatter, app, install_id, notification_key, occurred_at, device_at, context_id, device_id,
                        is_spelled, type, via, alert, presentation, action_id, launch, origin, notification_sent_at,
                        fetch_result, media_outcome, \(media.joined(separator: ", ")), summary_argument_count, page_index,
                        page_count
                    FROM recount_event AS e\(copy.days == nil ? "" : " WHERE NOT EXISTS (\(LogCopy.beganEarlier))")
                    OFFSET 0
                ) AS e
                GROUP BY scatter, app, install_id, notification_key
            ) AS told
        ), mixed AS (
            SELECT
                delivery, min(rank | launch) AS launch, min(rank | origin) AS origin,
                max(rank | fetch_result) AS fetch_result,
                -- 2^31 and above: an opening, a story's call to action.
                min(rank | CASE type WHEN 3 THEN 2147483649 WHEN 8 THEN 2147483650 ELSE action_id END)
                    FILTER (WHERE type IN (3, 5, 8)) AS first_response,
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
                told.delivery, events, told.app, told.install_id, told.notification_key,
                first_occurred_at, last_occurred_at, first_device_at, last_device_at, first_receipt_at, answered_at,
                (first_occurred_at AT TIME ZONE app.time_zone)::date AS day,
                \(words.map { "\(ordered($0.name, of: $0.table))::integer AS \($0.name)" }.joined(separator: ",\n        ")),
                \(states.map { "\(ordered($0.name, of: $0.table))::smallint AS \($0.name)" }.joined(separator: ", ")),
                \(["launch", "origin", "fetch_result", "media_outcome", "media_kind", "media_network", "media_reason"].map {
                    "\(ordered($0, of: "told"))::smallint AS \($0)"
                }.joined(separator: ",\n        ")),
                \(ordered("media_format", of: "told"))::integer AS media_format,
                least(\(ordered("media_bytes", of: "told")), 2147483647) AS media_bytes,
                nullif(coalesce(m.media_ms & 4294967295, told.media_ms), 2147483648) AS media_ms,
                CASE coalesce(
                    m.first_response & 4294967295,
                    CASE least(opened_at, called_at, tapped_at)
                        WHEN opened_at THEN 2147483649 WHEN called_at THEN 2147483650 ELSE action END,
                    0)
                    WHEN 2147483649 THEN -1 WHEN 2147483650 THEN -2
                    ELSE coalesce(m.first_response & 4294967295, action, 0) END::integer AS first_response,
                first_response_at, opened_at,
                coalesce(opened_at IS NULL AND called_at IS NULL AND least_action = action, false) AS sole,
                CASE WHEN NOT silent AND sent_at IS NOT NULL THEN (extract(epoch FROM extension_at) * 1000000)::bigint
                    - coalesce(
                        (m.sent_high << 32) | (m.sent_low & 4294967295), (extract(epoch FROM sent_at) * 1000000)::bigint)
                    END AS sending,
                NOT silent AND extension_at IS NOT NULL AND sent_at IS NULL AS unsent,
                CASE WHEN NOT silent AND sent_at IS NULL THEN extension_at END AS extension_at,
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
            FROM told LEFT JOIN log.app AS app ON app.id = told.app
            LEFT JOIN mixed AS m ON m.delivery = told.delivery
            LEFT JOIN recount_context AS c ON c.id = told.context AND NOT told.is_mixed
            LEFT JOIN recount_device AS d ON d.id = told.device AND NOT told.is_mixed
        )
        SELECT
            delivery, app, day, \(words.map(\.name).joined(separator: ", ")),
            first_response, silent, sole, received, expanded, opened, dismissed, action_tapped, story_action_tapped,
            media_attached, responded, received AND responded AS received_responded, unanswered,
            unanswered AND shown_to_nobody AS suppressed, unsent, story_started, story_finished, story_exit, furthest, pages,
            media_kind, media_network, media_outcome, media_reason, media_format, items, fetch_result, origin, launch,
            \(states.map(\.name).joined(separator: ", ")), events, first_occurred_at, last_occurred_at, first_device_at,
            last_device_at, media_bytes, media_ms, sending, first_receipt_at, extension_at, opened_at, first_response_at,
            answered_at, install_id, notification_key
        FROM facts
        """
    }

    /// SQL for what the order of events decides of a mixed delivery, and a row says of any other.
    private static func ordered(_ name: String, of row: String) -> String {
        "coalesce(m.\(name) & 4294967295, \(row).\(name), 0)"
    }

    /// What the receipt with an attachment says of it besides the outcome.
    private static let media = [
        "media_kind", "media_network", "media_format", "media_reason", "media_bytes", "media_ms",
    ]

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
