internal import EventLog
package import Postgres

/// The temporary tables and views that recounts read: some shards, one after another, created again in each
/// transaction.
///
/// - `recount_log`, a view: the events of the open shard up to its position. It reads a copy: the log itself would be
///   read from end to end each time. One pass over the log makes the copies of several shards. Of single days it has
///   all events since a day before the first of them, and older goals of deliveries on those days.
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
            of: shards, perTable: perTable, days: days, scatter: Scatter(), generation: generation)
        let tables = copy.tables.enumerated().map { number, shards in
            """
            CREATE TEMPORARY TABLE \(LogCopy.table(number)) PARTITION OF recount_logs
                FOR VALUES IN (\(shards.map { "\($0)" }.joined(separator: ", "))) ON COMMIT DROP;
            """
        }
        try connection.execute(script: settings)
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE recount_columns ON COMMIT DROP AS \(copy.copied) WITH NO DATA;
                CREATE TEMPORARY TABLE recount_logs (LIKE recount_columns) PARTITION BY LIST (shard) ON COMMIT DROP;
                \(tables.joined(separator: "\n"))
                INSERT INTO recount_logs \(copy.copied);
                \(copy.tables.indices.map { "ANALYZE \(LogCopy.table($0)) (shard, codes);" }.joined(separator: " "))
                CREATE TEMPORARY TABLE recount_context ON COMMIT DROP AS SELECT * FROM log.counted_context;
                CREATE TEMPORARY TABLE recount_device ON COMMIT DROP AS
                SELECT *, \(reach) AS reach FROM log.counted_device;
                ALTER TABLE recount_context ADD PRIMARY KEY (id); ALTER TABLE recount_device ADD PRIMARY KEY (id);
                ANALYZE recount_context (id); ANALYZE recount_device (id)
                """)
        try copy.findEarlier(on: &connection)
        return copy
    }

    /// Makes the views and tables of one copied shard.
    static func make(_ shard: Int16, of copy: LogCopy, on connection: inout Connection) throws(PostgresError) {
        let sealed = try connection.query(
            """
            SELECT EXISTS (SELECT FROM projection.sealed_delivery WHERE shard = \(shard)) AS deliveries,
                EXISTS (SELECT FROM projection.sealed_install_day WHERE shard = \(shard)) AS days
            """)[0]
        let (hasSealedDeliveries, hasSealedDays): (Bool, Bool) = (try sealed.get("deliveries"), try sealed.get("days"))
        try connection.execute(
            script: """
                CREATE TEMPORARY VIEW recount_log AS \(log(of: shard, in: copy));
                CREATE TEMPORARY VIEW recount_event AS \(events(shard: shard, of: copy, exceptSealed: hasSealedDeliveries))
                """)
        let isProved = ProvedDays.condition(copy.days)
        let tables = [
            ("recount_delivery", "\(deliveries(of: copy)) WHERE \(isProved)"), ("recount_tap", taps(of: copy)),
            ("recount_page", pages(of: copy)),
            ("recount_install_day", installDays(shard: shard, of: copy, exceptSealed: hasSealedDays)),
            ("recount_goal_app", goalApps(shard: shard, of: copy)), ("recount_goal", goals(shard: shard, of: copy)),
            ("recount_goal_credit", goalCredits(of: copy)),
        ]
        for (table, sql) in tables {
            // Deliveries and days of installs are grouped by numbers with a secret in them, so hashes are safe. Without
            // statistics, the planner may take sorting for as good.
            let isHashed = ["recount_delivery", "recount_install_day"].contains(table)
            try connection.execute(
                script: """
                    SET LOCAL enable_hashagg = \(isHashed ? "on" : "off");
                    SET LOCAL enable_sort = \(isHashed ? "off" : "on");
                    CREATE TEMPORARY TABLE \(table) ON COMMIT DROP AS \(sql); ANALYZE \(table)
                    """)
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

    /// Opens the copied rows of a shard. PostgreSQL computes only what a query asks for: the words of a row's device and
    /// context are looked up, and its names scattered, where that is needed. `is_spelled` says that the row does not name
    /// its device or context by a number but holds the words itself.
    private static func log(of shard: Int16, in copy: LogCopy) -> String {
        let opened = [
            "install_id", "notification_key", "occurred_at", "event_id", "device_at", "type", "category", "campaign",
            "variant", "thread", "platform", "app_version", "origin", "alert", "via", "presentation", "fetch_result",
            "media_kind", "media_network", "media_outcome", "media_format", "media_reason", "media_bytes", "media_ms",
            "notification_sent_at", "summary_argument_count", "action_id", "activation", "page_count", "page_index",
            "cause",
            "declared_ms", "os_version", "device_model", "locale", "interruption_level", "topic", "analytics_label",
            "authorization", "setting_alerts", "setting_lock_screen", "setting_scheduled_summary", "launch",
            "time_zone",
            "previous", "goal", "value", "currency",
        ]
        let rows = EventViews.opening(
            Set(opened + ["seq"]), of: copy.events(of: shard), devices: "recount_device", contexts: "recount_context",
            besides: """
                e.app, e.batch, e.device AS device_id, e.context AS context_id,
                coalesce(e.rare ?| ARRAY['device', 'context'], false) AS is_spelled
                """)
        return """
            SELECT app, batch, device_id, context_id, is_spelled, coalesce(seq, 0) AS seq, \(copy.scatter.delivery("e")) AS scatter,
                \(opened.map { "\"\($0)\"" }.joined(separator: ", ")), \(reach) AS reach
            FROM (\(rows)) AS e
            """
    }

    /// What a push can reach by a device's settings, from the columns of a device, which have 0 or NULL for what is unknown.
    private static let reach = """
        CASE WHEN "authorization" IN (4, 5) THEN 3 WHEN "authorization" = 2 THEN 2
            WHEN "authorization" > 0 THEN CASE
                WHEN setting_scheduled_summary = 1 OR setting_alerts = 2 AND setting_lock_screen = 2 THEN 2
                ELSE 1 END END
        """

    private static func events(shard: Int16, of copy: LogCopy, exceptSealed: Bool) -> String {
        let sealed = """
             AND NOT EXISTS (
                SELECT FROM projection.sealed_delivery AS s
                WHERE s.shard = \(shard) AND \(copy.scatter.delivery("s")) = e.scatter AND s.app = e.app
                    AND s.install_id = e.install_id AND s.notification_key = e.notification_key)
            """
        return """
            SELECT * FROM recount_log AS e
            WHERE e.notification_key IS NOT NULL AND e.type <> 12\(exceptSealed ? sealed : "")
            """
    }

    /// Whether an event `e` belongs to a delivery `d`. The names are in a CASE because the planner would take three
    /// equal names for three independent conditions, and expect a single row.
    static func ofDelivery(_ copy: LogCopy) -> String {
        """
        e.scatter = \(copy.scatter.delivery("d"))
            AND CASE WHEN e.notification_key = d.notification_key AND e.install_id = d.install_id AND e.app = d.app
                THEN true ELSE false END
        """
    }
}
