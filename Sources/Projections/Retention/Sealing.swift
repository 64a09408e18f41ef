internal import EventLog
internal import Postgres
internal import Telemetry

/// Seals the deliveries that would lose events with a month of the log: what they count for moves to the frozen part of
/// each table, which rebuilds keep and which nothing changes any more; they themselves go, and what events of them the log
/// still holds count no more. Every sum is the same before and after, at every moment.
struct Sealing {
    let month: CivilDate

    /// Deliveries of one transaction.
    private static let mostDeliveries = 5_000

    /// The number of the frozen tables.
    private static let frozen: Int32 = 0

    /// Seals them all; says how many. Again, goes on where it was cut short.
    func seal(on connection: inout Connection) throws -> Int {
        try find(on: &connection)
        var sealed = 0
        while true {
            let count = try connection.atomically { connection in try sealSome(on: &connection) }
            guard count > 0 else { return sealed }
            sealed += count
        }
    }

    /// One look at all deliveries, since no event of the month can come any more. A delivery whose events lie before and
    /// after the month, but not in it, is sealed too: that costs nothing, and to know would cost a look at its events.
    private func find(on connection: inout Connection) throws {
        let (lower, upper) = bounds
        try connection.atomically { connection in
            guard let lane = try Lane.lock([0], of: .live, on: &connection) else { return }
            try connection.execute(script: "SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning")
            try connection.execute(script: "DROP TABLE IF EXISTS pg_temp.to_seal")
            try connection.execute(
                script: """
                    CREATE TEMPORARY TABLE to_seal (
                        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, notification_key text, install_id uuid, app integer,
                        shard smallint)
                    """)
            try connection.query(
                """
                INSERT INTO pg_temp.to_seal (notification_key, install_id, app, shard)
                SELECT notification_key, install_id, app, shard
                FROM projection.\(identifier: DeliveryTable.name(lane.deliveries))
                WHERE first_device_at < \(upper) AND last_device_at >= \(lower)
                """)
        }
    }

    private func sealSome(on connection: inout Connection) throws -> Int {
        // What is being built still holds them.
        try LineBuilder.retireUnfinished(on: &connection)
        guard let lane = try Lane.lock(Array(0..<Shard.count), of: .live, on: &connection), lane.isRunning else {
            throw StepError.stopped
        }
        let rows = try connection.query(
            """
            WITH some_rows AS (SELECT place FROM pg_temp.to_seal ORDER BY place LIMIT \(Int32(Self.mostDeliveries)))
            DELETE FROM pg_temp.to_seal AS t USING some_rows AS s WHERE t.place = s.place
            RETURNING t.notification_key, t.install_id, t.app, t.shard
            """)
        guard !rows.isEmpty else { return 0 }
        let stored = try DeliveryTable.read(try Delivery.Name.all(rows), from: lane.deliveries, on: &connection)
        let deliveries = stored.values.map(\.delivery)
        try Step.write(Changes(removed: deliveries), of: lane.running, on: &connection)
        try Step.write(
            Changes(inserted: deliveries), of: lane.running.map { ($0.projector, Self.frozen) }, on: &connection)
        try DeliveryTable.delete(deliveries.map(\.name), from: lane.deliveries, on: &connection)
        try DeliveryTable.remember(sealed: deliveries, on: &connection)
        return rows.count
    }

    /// Forgets the sealed deliveries all of whose months are gone: no event of them can come any more.
    static func forgetGone(on connection: inout Connection) throws(PostgresError) {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(script: "SET LOCAL statement_timeout = 0")
            try connection.query(
                """
                DELETE FROM projection.sealed_delivery AS s
                WHERE NOT EXISTS (
                    SELECT FROM generate_series(
                        date_trunc('month', s.first_device_at AT TIME ZONE 'UTC'),
                        date_trunc('month', s.last_device_at AT TIME ZONE 'UTC'), interval '1 month') AS span (month)
                    WHERE NOT EXISTS (
                        SELECT FROM log.partition AS p WHERE p.month = span.month::date AND p.dropped_at IS NOT NULL))
                """)
        }
    }

    private var bounds: (Timestamp, Timestamp) {
        let day: Int64 = 86_400_000_000
        let next = CivilDate(year: month.month == 12 ? month.year + 1 : month.year, month: month.month % 12 + 1, day: 1)
        return (
            Timestamp(microseconds: Int64(month.daysSince1970) * day),
            Timestamp(microseconds: Int64(next?.daysSince1970 ?? month.daysSince1970) * day)
        )
    }
}
