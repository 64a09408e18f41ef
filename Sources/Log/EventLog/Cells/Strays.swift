package import Postgres
internal import Telemetry
package import Values

/// Events of the default partition: their device's clock is years off, so they belong to no month that ends. They are
/// removed by the time of their receipt. A repeat that arrives after that is a new event, since nothing of them is
/// remembered.
///
/// All of it needs the owner, and one connection: first `find`, then `drop`. Between the two, the caller seals their
/// deliveries.
package enum Strays {
    /// The temporary table with the events found: `place`, `device_at`, `hash`, `event_id`, `install_id`, `app`,
    /// `notification_key`, which is NULL for an event that belongs to no fold.
    package static let table: StaticString = "pg_temp.stray_event"

    /// What there is to drop.
    package struct Findings: Sendable, Equatable {
        package let events: Int64
        /// The position of the log up to which all were found.
        package let position: Int64
    }

    /// Finds the events that were received before that moment.
    package static func find(
        receivedBefore limit: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> Findings {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning;
                    SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on;
                    DROP TABLE IF EXISTS \(table);
                    CREATE TEMPORARY TABLE stray_event (
                        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, device_at timestamptz, hash bigint,
                        event_id uuid, install_id uuid, app integer, notification_key text);
                    """)
            let position: Int64 = try connection.query("SELECT coalesce(max(number), 0) FROM log.batch")[0].get(0)
            let events = try connection.query(
                """
                INSERT INTO \(sql: table) (device_at, hash, event_id, install_id, app, notification_key)
                SELECT e.device_at,
                    uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16,
                    e.event_id, e.install_id, e.app,
                    CASE WHEN e.codes >> 10 & 31 <> \(Int32(EventType.goalReached.rawValue)) THEN e.notification_key END
                FROM log.event_elsewhere AS e JOIN log.batch AS b ON b.id = e.batch_id
                WHERE b.number <= \(position) AND coalesce(e.received_at, b.received_at) < \(limit)
                """
            ).affected
            // The plan of the deletion needs to know how many they are.
            try connection.execute(script: "ANALYZE \(table)")
            return Findings(events: Int64(events), position: position)
        }
    }

    /// Deletes the events found, in transactions of at most `most` events. Returns how many it deleted.
    package static func drop(most: Int64 = 10_000, on connection: inout Connection) throws(PostgresError) -> Int64 {
        var dropped: Int64 = 0
        while true {
            let some: Int64? = try connection.transaction { connection throws(PostgresError) in
                try connection.execute(script: "SET LOCAL statement_timeout = 0")
                return try connection.query("SELECT log.drop_strays(\(most))")[0].optional(0)
            }
            guard let some else { return dropped }
            dropped += some
        }
    }
}
