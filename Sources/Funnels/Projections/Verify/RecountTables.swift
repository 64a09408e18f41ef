internal import EventLog
package import Postgres

/// The temporary tables and views that recounts read: some shards, one after another, created again in each
/// transaction.
///
/// - `recount_log`, a view: the events of the open shard up to its position. It reads a copy: the log itself would be
///   read from end to end each time. One pass over the log makes the copies of several shards. Of single days it has
///   all events since a day before the first of them.
/// - `recount_event`, a view: the events that count. Events of sealed deliveries do not, and neither do events about an
///   install, which belong to no fold: a goal (type 12) may name a delivery all the same.
/// - `recount_delivery`: a numbered row for each delivery, with all that its events say together.
/// - `recount_tap`: a row for each action that was tapped on a delivery.
/// - `recount_install_day`: a row for each day of an install, with all that its events of that day say together.
/// - `recount_goal`: a row for each goal, with what it counts for; `recount_goal_credit`: a row for each delivery and
///   rule that it counts for; `recount_goal_app`: the apps of which the generation keeps what goals need.
/// - `recount_page`: a row for each page of a story that was shown or had its call to action tapped, among the events
///   that count.
///
/// Deliveries and days of installs are those of the `ProvedDays`, or all. What is made of them needs no more care;
/// events may be of other deliveries, too.
package enum RecountTables {
    /// Copies one shard and makes its tables, in a transaction of its own.
    package static func make(
        shard: Int16, position: Int64, on connection: inout Connection
    ) throws(PostgresError) {
        try make(shard, of: try copy([(shard, position)], perTable: 1, on: &connection), on: &connection)
    }

    /// Copies the events of these shards, each up to its position, in the open transaction: all of them, or what some
    /// days need.
    static func copy(
        _ shards: [(shard: Int16, position: Int64)], perTable: Int, of days: ProvedDays? = nil,
        generation: Int32? = nil, on connection: inout Connection
    ) throws(PostgresError) -> LogCopy {
        let copy = LogCopy(
            of: shards, perTable: perTable, days: days, scatter: try Scatter(on: &connection), generation: generation)
        let tables = copy.tables.enumerated().map { number, shards in
            """
            CREATE TEMPORARY TABLE \(LogCopy.table(number)) PARTITION OF recount_logs
                FOR VALUES IN (\(shards.map { "\($0)" }.joined(separator: ", "))) ON COMMIT DROP;
            """
        }
        let upToPosition = shards.map { "e.shard = \($0.shard) AND e.batch <= \($0.position)" }
        let ofDays = days.map { " AND e.occurred_at >= '\($0.reading)'" } ?? ""
        try connection.execute(script: settings)
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE recount_columns ON COMMIT DROP AS \(log(scattering: copy)) WITH NO DATA;
                CREATE TEMPORARY TABLE recount_logs (LIKE recount_columns) PARTITION BY LIST (shard) ON COMMIT DROP;
                \(tables.joined(separator: "\n"))
                INSERT INTO recount_logs \(log(scattering: copy))
                WHERE (\(upToPosition.joined(separator: " OR ")))\(ofDays);
                \(copy.tables.indices.map { "ANALYZE \(LogCopy.table($0)) (shard, type);" }.joined(separator: " "))
                """)
        try copy.findEarlier(on: &connection)
        return copy
    }

    /// Makes the views and tables of one copied shard.
    static func make(_ shard: Int16, of copy: LogCopy, on connection: inout Connection) throws(PostgresError) {
        let hasSealedDays: Bool = try connection.query(
            "SELECT EXISTS (SELECT FROM projection.sealed_install_day WHERE shard = \(shard))")[0].get(0)
        try connection.execute(
            script: """
                CREATE TEMPORARY VIEW recount_log AS SELECT * FROM \(copy.events(of: shard));
                CREATE TEMPORARY VIEW recount_event AS \(events(shard: shard, of: copy))
                """)
        let isProved = ProvedDays.condition(copy.days)
        let tables = [
            ("recount_delivery", "\(deliveries(of: copy)) WHERE \(isProved)"), ("recount_tap", taps),
            ("recount_page", pages),
            ("recount_install_day", installDays(shard: shard, of: copy, exceptSealed: hasSealedDays)),
            ("recount_goal_app", goalApps(shard: shard, of: copy)), ("recount_goal", goals(shard: shard, of: copy)),
            ("recount_goal_credit", goalCredits),
        ]
        for (table, sql) in tables {
            try connection.execute(
                script: "CREATE TEMPORARY TABLE \(table) ON COMMIT DROP AS \(sql); ANALYZE \(table)")
        }
    }

    /// There is enough memory to sort a big shard in a few runs. Names and cells are grouped by sorting: PostgreSQL's
    /// hashes have no secret, and whoever chooses the names can make them collide. All joins are equality joins and run
    /// as hash joins, over numbers that nobody outside chooses (`Scatter`): without statistics, the planner takes
    /// millions of rows for one, and compiles (`jit`) what then runs for a moment. The joins are written in a good
    /// order; looking for a better one would take most of the planner's time. No index begins with the shard, and
    /// fetching a row here and there through a whole index reads the table as well. Plans need only the number of rows
    /// and of different values; with the usual statistics, gathering them took a quarter of all time.
    private static let settings = """
        SET LOCAL work_mem = '64MB'; SET LOCAL enable_hashagg = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_indexscan = off; SET LOCAL join_collapse_limit = 1;
        SET LOCAL jit = off; SET LOCAL default_statistics_target = 5
        """

    /// The names decide which delivery a row belongs to.
    private static func log(scattering copy: LogCopy) -> String {
        """
        SELECT
            e.shard, \(copy.scatter.delivery("e")) AS scatter,
            e.app, e.install_id, e.notification_key, e.batch, e.occurred_at, coalesce(e.seq, 0) AS seq, e.event_id, e.device_at, e.type,
            e.category, e.campaign, e.variant, e.thread, e.platform, e.app_version, e.origin, e.alert, e.via,
            e.presentation, e.fetch_result, e.media_kind, e.media_network, e.media_outcome, e.media_format, e.media_reason,
            e.media_bytes, e.media_ms, e.notification_sent_at, e.summary_argument_count,
            e.action_id, e.activation, e.page_count, e.page_index, e.cause, e.declared_ms, e.os_version, e.device_model,
            e.locale, e.interruption_level, e.topic, e.analytics_label, e."authorization", e.launch, e.time_zone, e.previous,
            e.goal, e.value, e.currency,
            CASE WHEN e."authorization" IN (4, 5) THEN 3 WHEN e."authorization" = 2 THEN 2
                WHEN e."authorization" IS NOT NULL THEN CASE
                    WHEN e.setting_scheduled_summary = 1 OR e.setting_alerts = 2 AND e.setting_lock_screen = 2 THEN 2
                    ELSE 1 END END AS reach
        FROM log.opened_event AS e
        """
    }

    private static func events(shard: Int16, of copy: LogCopy) -> String {
        """
        SELECT * FROM recount_log AS e
        WHERE e.notification_key IS NOT NULL AND e.type <> 12 AND NOT EXISTS (
            SELECT FROM projection.sealed_delivery AS s
            WHERE s.shard = \(shard) AND \(copy.scatter.delivery("s")) = e.scatter AND s.app = e.app
                AND s.install_id = e.install_id AND s.notification_key = e.notification_key)
        """
    }

    /// The first of something in event order is the least (rank, something), packed into one number, so that each needs
    /// no sort. Ranks continue from delivery to delivery, which costs less than starting again. The bits of `types`: 2
    /// received, 4 expanded, 8 opened, 16 dismissed, 32 action tapped; of stories 64 started, 128 page shown, 256
    /// action tapped, 512 finished, 1024 fallback shown.
    private static func deliveries(of copy: LogCopy) -> String {
        """
        WITH ranked AS (
            SELECT *, row_number() OVER (
                ORDER BY scatter, install_id, notification_key, app, occurred_at, seq, event_id, device_at) << 32 AS rank
            FROM recount_event AS e\(copy.days == nil ? "" : " WHERE NOT EXISTS (\(LogCopy.beganEarlier))")
        ), told AS (
            SELECT
                scatter, app, install_id, notification_key, min(rank) >> 32 AS delivery, count(*) AS events,
                min(occurred_at) AS first_occurred_at, max(occurred_at) AS last_occurred_at,
                min(device_at) AS first_device_at, max(device_at) AS last_device_at,
                min(occurred_at) FILTER (WHERE type = 1) AS first_receipt_at,
                min(occurred_at) FILTER (WHERE type IN (3, 4, 5, 8)) AS answered_at,
                min(rank | category) AS category, min(rank | campaign) AS campaign,
                min(rank | variant) AS variant, min(rank | thread) AS thread,
                min(rank | platform) AS platform, min(rank | app_version) AS app_version,
                min(rank | os_version) AS os_version, min(rank | device_model) AS device_model,
                min(rank | locale) AS locale, min(rank | interruption_level) AS interruption_level,
                min(rank | topic) AS topic, min(rank | analytics_label) AS analytics_label,
                min(rank | "authorization") AS "authorization", min(rank | reach) AS reach, min(rank | launch) AS launch,
                min(rank | origin) AS origin,
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
            FROM ranked GROUP BY scatter, install_id, notification_key, app
        ), flagged AS (
            SELECT
                delivery, scatter, told.app, install_id, notification_key, events,
                first_occurred_at, last_occurred_at, first_device_at, last_device_at, first_receipt_at,
                answered_at, (first_occurred_at AT TIME ZONE app.time_zone)::date AS day,
                (coalesce(category, 0) & 4294967295)::integer AS category,
                (coalesce(campaign, 0) & 4294967295)::integer AS campaign,
                (coalesce(variant, 0) & 4294967295)::integer AS variant,
                (coalesce(thread, 0) & 4294967295)::integer AS thread,
                (coalesce(platform, 0) & 4294967295)::integer AS platform,
                (coalesce(app_version, 0) & 4294967295)::integer AS app_version,
                (coalesce(os_version, 0) & 4294967295)::integer AS os_version,
                (coalesce(device_model, 0) & 4294967295)::integer AS device_model,
                (coalesce(locale, 0) & 4294967295)::integer AS locale,
                (coalesce(interruption_level, 0) & 4294967295)::integer AS interruption_level,
                (coalesce(topic, 0) & 4294967295)::integer AS topic,
                (coalesce(analytics_label, 0) & 4294967295)::integer AS analytics_label,
                (coalesce("authorization", 0) & 4294967295)::smallint AS "authorization",
                (coalesce(reach, 0) & 4294967295)::smallint AS reach,
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
                CASE WHEN NOT silent THEN (extract(epoch FROM extension_at) * 1000000)::bigint
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
            FROM told
            JOIN log.app AS app ON app.id = told.app
        )
        SELECT *, received AND responded AS received_responded, unanswered AND shown_to_nobody AS suppressed FROM flagged
        """
    }

    /// Whether an event `e` belongs to a delivery `d`. The names are in a CASE because the planner would take three
    /// equal names for three independent conditions, and expect a single row.
    static let ofDelivery = """
        e.scatter = d.scatter
            AND CASE WHEN e.notification_key = d.notification_key AND e.install_id = d.install_id AND e.app = d.app
                THEN true ELSE false END
        """

    /// The first tap not before the earliest receipt times the action, if it is among the delivery's first 1,000 taps.
    private static let taps = """
        WITH placed AS (
            SELECT
                scatter, app, install_id, notification_key, occurred_at, action_id, activation,
                row_number() OVER (
                    PARTITION BY scatter, install_id, notification_key, app
                    ORDER BY occurred_at, seq, event_id, device_at) AS place
            FROM recount_event WHERE type = 5
        )
        SELECT
            d.app, d.install_id, d.notification_key, d.day, d.category, d.sole, d.received, e.action_id,
            count(*) AS taps,
            count(*) FILTER (WHERE e.activation = 1) AS foreground_taps,
            (extract(epoch FROM min(e.occurred_at) FILTER (WHERE e.occurred_at >= d.first_receipt_at AND e.place <= 1000)
                - d.first_receipt_at) * 1000000)::bigint AS microseconds
        FROM placed AS e
        JOIN recount_delivery AS d ON \(ofDelivery)
        WHERE d.action_tapped
        GROUP BY
            d.app, d.install_id, d.notification_key, d.day, d.category, d.sole, d.received, d.first_receipt_at, e.action_id
        """

    /// Reads the first 1,000 story events of a delivery. A page dwells until the next start, page, tap or finish, if
    /// that is no start and comes within 60 s. The page advances if another page ended its dwell: one further on whose
    /// cause is neither turning back (4) nor a beginning (1), or a different one whose cause is by itself (2), a tap
    /// (3) or a loop (5).
    private static let pages = """
        WITH placed AS (
            SELECT
                d.delivery, e.occurred_at, e.seq, e.event_id, e.device_at, e.type, e.page_index, e.cause, e.declared_ms,
                row_number() OVER story AS place
            FROM recount_event AS e JOIN recount_delivery AS d ON \(ofDelivery)
            WHERE e.type BETWEEN 6 AND 10 AND d.story_exit <> 0
            WINDOW story AS (PARTITION BY d.delivery ORDER BY e.occurred_at, e.seq, e.event_id, e.device_at)
        ), followed AS (
            SELECT
                delivery, type, page_index, declared_ms, lead(type) OVER story AS next_type,
                lead(page_index) OVER story AS next_page, lead(cause) OVER story AS next_cause,
                (extract(epoch FROM lead(occurred_at) OVER story - occurred_at) * 1000000)::bigint AS dwell
            FROM placed WHERE place <= 1000 AND type <> 10
            WINDOW story AS (PARTITION BY delivery ORDER BY occurred_at, seq, event_id, device_at)
        ), turned AS (
            SELECT *, dwells AND next_type = 7 AND CASE
                WHEN next_cause IN (1, 4) THEN false
                WHEN next_cause IN (2, 3, 5) THEN next_page <> page_index
                ELSE next_page > page_index END AS advances
            FROM (SELECT *, type = 7 AND next_type <> 6 AND dwell <= 60000000 AS dwells FROM followed) AS followed
            WHERE type IN (7, 8)
        )
        SELECT
            delivery, type, page_index, CASE WHEN dwells THEN dwell END AS dwell,
            CASE
                WHEN advances IS NOT TRUE THEN NULL
                WHEN next_cause IN (2, 5) THEN 'auto'
                WHEN next_cause = 3 THEN 'manual'
                WHEN declared_ms IS NULL THEN 'untold'
                WHEN abs(dwell - declared_ms::numeric * 1000) <= 400000 THEN 'auto'
                ELSE 'manual'
            END AS advance
        FROM turned
        """
}
