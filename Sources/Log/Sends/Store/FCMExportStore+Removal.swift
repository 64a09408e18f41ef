package import Postgres
package import Values

extension FCMExportStore {
    /// Deletes the rows of all apps from before the day that began that many days ago, as the owner, and returns how
    /// many. Their counts in the funnels are sealed with their present campaigns.
    package static func retain(
        days: Int, now: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        var dropped = 0
        for row in try connection.query("SELECT id FROM log.app ORDER BY id") {
            dropped += try retain(days: days, now: now, app: try row.get(0), on: &connection)
        }
        return dropped
    }

    private static func retain(
        days: Int, now: Timestamp, app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0;
                    LOCK TABLE sends.fcm_row IN SHARE ROW EXCLUSIVE MODE;
                    SELECT log.open_gate();
                    """)
            // A whole day of the app, so that no day is half sealed; one day earlier if that day has two midnights.
            let since: Timestamp = try connection.query(
                """
                SELECT max(midnight.at)
                FROM log.app AS a
                CROSS JOIN LATERAL (
                    SELECT
                        ((\(now) - \(Int32(clamping: days)) * interval '1 day') AT TIME ZONE a.time_zone)::date - back
                    FROM generate_series(0, 1) AS back
                ) AS first (day)
                CROSS JOIN LATERAL (SELECT first.day::timestamp AT TIME ZONE a.time_zone) AS midnight (at)
                WHERE a.id = \(app)
                    AND ((midnight.at - interval '1 microsecond') AT TIME ZONE a.time_zone)::date < first.day
                """)[0].get(0)
            // Without old rows nothing is recorded, so that old rows may still be imported.
            guard
                try !connection.query("SELECT FROM sends.fcm_row WHERE app = \(app) AND event_at < \(since) LIMIT 1")
                    .isEmpty
            else { return 0 }
            try connection.query(
                """
                INSERT INTO sends.fcm_retained AS r (app, since) VALUES (\(app), \(since))
                ON CONFLICT (app) DO UPDATE SET since = greatest(r.since, excluded.since)
                """)
            try connection.query(
                """
                INSERT INTO sends.fcm_sealed AS s
                    (app, day, campaign, variant, accepted, delivered, data_accepted, data_delivered)
                SELECT app, day, campaign, variant, accepted, delivered, data_accepted, data_delivered
                FROM sends.fcm_campaigns WHERE app = \(app) AND until <= \(since)
                ON CONFLICT (app, day, campaign, variant) DO UPDATE
                SET accepted = coalesce(s.accepted + excluded.accepted, s.accepted, excluded.accepted),
                    delivered = coalesce(s.delivered + excluded.delivered, s.delivered, excluded.delivered),
                    data_accepted = coalesce(s.data_accepted + excluded.data_accepted, s.data_accepted,
                    excluded.data_accepted),
                    data_delivered = coalesce(s.data_delivered + excluded.data_delivered, s.data_delivered,
                        excluded.data_delivered)
                """)
            try connection.query("DELETE FROM sends.fcm_message WHERE app = \(app) AND first_at < \(since)")
            // FCM keeps a message for four weeks at most: until then messages of the topic may still count.
            try connection.query(
                "DELETE FROM sends.fcm_topic WHERE app = \(app) AND first_at < \(since) - interval '28 days'")
            return try connection.query("DELETE FROM sends.fcm_row WHERE app = \(app) AND event_at < \(since)").affected
        }
    }
}

extension FCMExportStore {
    /// The erased instances of an app, by the hash of their id, each with the moment of its erasure.
    package struct ErasedInstances: Sendable {
        fileprivate let app: Int32
        fileprivate let hashes: [Bytea]
        fileprivate let times: [Timestamp]

        /// Those of two databases. The later moment of an instance counts.
        package func joined(with other: ErasedInstances) -> ErasedInstances {
            var latest = Dictionary(zip(hashes, times), uniquingKeysWith: max)
            latest.merge(zip(other.hashes, other.times), uniquingKeysWith: max)
            return ErasedInstances(app: app, hashes: Array(latest.keys), times: Array(latest.values))
        }
    }

    /// The erased instances that a database knows: for the other cells of a cluster, which have rows of theirs, too.
    package static func erasedInstances(
        of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> ErasedInstances {
        var (hashes, times): ([Bytea], [Timestamp]) = ([], [])
        for row in try connection.query("SELECT instance_hash, erased_at FROM sends.erased_instance WHERE app = \(app)")
        {
            hashes.append(try row.get(0))
            times.append(try row.get(1))
        }
        return ErasedInstances(app: app, hashes: hashes, times: times)
    }

    /// Learns of instances that were erased in another cell, and deletes their rows. Returns how many.
    package static func forget(
        _ erased: ErasedInstances, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        try connection.query(
            """
            INSERT INTO sends.erased_instance AS i (app, instance_hash, erased_at)
            SELECT \(erased.app), * FROM unnest(\(erased.hashes), \(erased.times))
            ON CONFLICT (app, instance_hash) DO UPDATE SET erased_at = greatest(i.erased_at, excluded.erased_at)
            """)
        return try forgetErased(of: erased.app, on: &connection)
    }

    /// Deletes the rows of all erased instances of an app, as the owner, and returns how many. The events of the erased
    /// installs named these instances. The next run continues an interrupted one.
    package static func forgetErased(of app: Int32, on connection: inout Connection) throws(PostgresError) -> Int {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0;
                    LOCK TABLE sends.fcm_row IN SHARE ROW EXCLUSIVE MODE;
                    SELECT log.open_gate();
                    """)
            try connection.query(
                """
                DELETE FROM sends.fcm_message AS m USING sends.erased_instance AS e
                WHERE m.app = \(app) AND e.app = \(app) AND m.first_at < e.erased_at
                    AND e.instance_hash = sha256(convert_to(m.instance_id, 'UTF8'))
                """)
            return try connection.query(
                """
                DELETE FROM sends.fcm_row AS r USING sends.erased_instance AS e
                WHERE r.app = \(app) AND e.app = \(app) AND r.event_at < e.erased_at
                    AND e.instance_hash = sha256(convert_to(r.instance_id, 'UTF8'))
                """
            ).affected
        }
    }
}
