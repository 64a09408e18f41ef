internal import EventLog
internal import Postgres
internal import Values

/// The deliveries whose counts retention has sealed. A sealed delivery is remembered for as long as the log may hold an
/// event of it. No generation counts such an event; if we forgot the delivery too early, some would count it and some
/// not.
enum SealedDeliveries {
    /// Records that these are sealed.
    static func remember(_ deliveries: [Delivery], on connection: inout Connection) throws(PostgresError) {
        let (names, spans) = (deliveries.map(\.name), deliveries.map(\.state.span))
        try connection.queryPrepared(
            """
            INSERT INTO projection.sealed_delivery (
                notification_key, install_id, app, shard, first_device_at, last_device_at)
            SELECT * FROM unnest(\(names.map(\.notificationKey)), \(names.map(\.install)), \(names.map(\.app)),
                \(names.map(\.shard)), \(spans.map(\.firstDeviceAt)), \(spans.map(\.lastDeviceAt)))
            """)
    }

    /// Whether there are any.
    static func exist(on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.queryPrepared("SELECT EXISTS (SELECT FROM projection.sealed_delivery)").value()
    }

    /// Returns the sealed ones among these; the step skips their events. Locks them until the transaction ends, so that
    /// nobody forgets them meanwhile, and keeps them remembered for as long as these events exist: `times` says when
    /// the first and the last of a delivery's events were, by the device's clock.
    static func among(
        _ news: [DeliveryNews], times: (DeliveryNews) -> (first: Timestamp, last: Timestamp)?,
        on connection: inout Connection
    ) throws(PostgresError) -> Set<Delivery.Name> {
        guard !news.isEmpty, try exist(on: &connection) else { return [] }
        let names = news.map(\.name)
        let rows = try connection.queryPrepared(
            """
            SELECT asked.place::integer - 1 AS place, d.first_device_at, d.last_device_at
            FROM unnest(\(names.map(\.notificationKey)), \(names.map(\.install)), \(names.map(\.app)),
                \(names.map(\.shard))) WITH ORDINALITY AS asked (notification_key, install_id, app, shard, place)
            CROSS JOIN LATERAL (
                SELECT * FROM projection.sealed_delivery AS d
                WHERE d.notification_key = asked.notification_key AND d.install_id = asked.install_id
                    AND d.app = asked.app AND d.shard = asked.shard
                LIMIT 1 FOR KEY SHARE
            ) AS d
            """)
        var sealed: Set<Delivery.Name> = []
        var longer: [(name: Delivery.Name, first: Timestamp, last: Timestamp)] = []
        for row in rows {
            let place = Int(try row.get("place", as: Int32.self))
            let name = names[place]
            let first: Timestamp = try row.get("first_device_at")
            let last: Timestamp = try row.get("last_device_at")
            sealed.insert(name)
            guard let times = times(news[place]), times.first < first || times.last > last else { continue }
            longer.append((name, min(times.first, first), max(times.last, last)))
        }
        try lengthen(longer, on: &connection)
        return sealed
    }

    /// Updates in a fixed order, since a generation that is being built skips the same events.
    private static func lengthen(
        _ deliveries: [(name: Delivery.Name, first: Timestamp, last: Timestamp)], on connection: inout Connection
    ) throws(PostgresError) {
        guard !deliveries.isEmpty else { return }
        let sorted = deliveries.sorted { left, right in
            (left.name.install, left.name.app) != (right.name.install, right.name.app)
                ? (left.name.install, left.name.app) < (right.name.install, right.name.app)
                : left.name.notificationKey.utf8.lexicographicallyPrecedes(right.name.notificationKey.utf8)
        }
        let names = sorted.map(\.name)
        try connection.queryPrepared(
            """
            UPDATE projection.sealed_delivery AS d
            SET first_device_at = least(d.first_device_at, longer.first), last_device_at = greatest(d.last_device_at, longer.last)
            FROM unnest(\(names.map(\.notificationKey)), \(names.map(\.install)), \(names.map(\.app)), \(names.map(\.shard)),
                \(sorted.map(\.first)), \(sorted.map(\.last))) AS longer (notification_key, install_id, app, shard, first, last)
            WHERE d.notification_key = longer.notification_key AND d.install_id = longer.install_id
                AND d.app = longer.app AND d.shard = longer.shard
            """)
    }

    /// Forgets deliveries of which the log holds nothing any more. A later event makes a new delivery.
    static func forgetGone(on connection: inout Connection) throws(PostgresError) {
        try SealedRows.forgetGone(
            from: "sealed_delivery", elsewhere: "e.notification_key = s.notification_key", on: &connection)
    }
}

/// What the tables of sealed deliveries and of sealed days of installs have in common.
enum SealedRows {
    /// Forgets rows of which the log holds nothing any more: all months of their events are gone, and none of their
    /// events has a clock that belongs to no month. `elsewhere` says which events `e` of its install are a row's, `s`.
    ///
    /// It checks twice. The first check keeps rows that a step has locked, since that step may extend them. But a step
    /// may already have skipped an event that the first check did not see. The second check sees it, since steps now
    /// wait for the rows that it deletes.
    static func forgetGone(
        from table: StaticString, elsewhere: StaticString, on connection: inout Connection
    ) throws(PostgresError) {
        func isGone(_ scatter: Scatter) -> String {
            """
            NOT EXISTS (
                    SELECT FROM log.partition AS p
                    WHERE p.dropped_at IS NULL
                        AND p.month BETWEEN date_trunc('month', s.first_device_at AT TIME ZONE 'UTC')
                            AND s.last_device_at AT TIME ZONE 'UTC')
                AND NOT EXISTS (
                    SELECT FROM log.event_elsewhere AS e
                    WHERE \(scatter.isSameInstall("e", "s")) AND e.install_id = s.install_id AND e.app = s.app
                        AND \(elsewhere))
            """
        }
        let scatter = Scatter()
        try connection.transaction { connection throws(PostgresError) in
            let isGone = isGone(scatter)
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL enable_hashjoin = on; SET LOCAL enable_seqscan = on;
                    CREATE TEMPORARY TABLE to_forget ON COMMIT DROP AS
                    SELECT s.ctid AS place FROM projection.\(table) AS s WHERE \(isGone) FOR UPDATE SKIP LOCKED;
                    DELETE FROM projection.\(table) AS s USING pg_temp.to_forget AS f
                    WHERE s.ctid = f.place AND \(isGone);
                    """)
        }
    }
}
