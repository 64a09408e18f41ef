package import Postgres

/// Stores the rows of the export, each once.
package enum FCMExportStore {
    /// What became of some rows.
    package struct Counts: Sendable, Equatable {
        package internal(set) var stored = 0
        /// Rows of an erased instance from before its erasure.
        package internal(set) var erased = 0
        /// Rows from a time that retention has removed.
        package internal(set) var tooOld = 0
    }

    /// The tables that a new cell of a cluster gets from another one.
    package static let sharedTables = [
        SharedTable("sends.fcm_row", key: ["app", "event_at", "event", "message_key", "instance_id"]),
        SharedTable(
            "sends.fcm_message", key: ["message_key", "instance_id", "app"],
            changing: ["first_at", "bulk_id", "accepted", "delivered", "is_data", "analytics_label"]),
        SharedTable(
            "sends.fcm_topic", key: ["app", "bulk_id"], changing: ["first_at", "message_key", "analytics_label"]),
        SharedTable(
            "sends.fcm_sealed", key: ["app", "day", "campaign", "variant"],
            changing: ["accepted", "delivered", "data_accepted", "data_delivered"]),
        SharedTable("sends.fcm_retained", key: ["app"], changing: ["since"]),
        SharedTable("sends.erased_instance", key: ["app", "instance_hash"], changing: ["erased_at"]),
    ]

    private static let columns =
        "event_at, event, message_key, instance_id, message_id, message_type, project_number, sdk_platform, app_name, "
        + "collapse_key, priority, ttl, topic, bulk_id, analytics_label"

    /// Stores rows as the owner, all of them or none. Rows that are already stored are ignored.
    package static func append(
        _ rows: [FCMExportRow], app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> Counts {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    CREATE TEMPORARY TABLE IF NOT EXISTS fcm_import (
                        event_at timestamptz, event text COLLATE "C", message_key text COLLATE "C",
                        instance_id text COLLATE "C", message_id text, message_type text, project_number bigint,
                        sdk_platform text, app_name text, collapse_key text, priority text, ttl bigint, topic text,
                        bulk_id bigint, analytics_label text
                    ) ON COMMIT DELETE ROWS
                    """)
            // Waits for a running erasure, which deletes the rows that were stored before it, and then shows whose rows
            // must not come back.
            try connection.execute(script: "LOCK TABLE sends.fcm_row IN ROW EXCLUSIVE MODE")
            try connection.copyIn("COPY fcm_import (\(columns)) FROM STDIN (FORMAT binary)", copyRows(rows))
            let erased = try connection.query(
                """
                DELETE FROM fcm_import AS i USING sends.erased_instance AS e
                WHERE e.app = \(app) AND e.instance_hash = sha256(convert_to(i.instance_id, 'UTF8'))
                    AND i.event_at < e.erased_at
                """
            ).affected
            let tooOld = try connection.query(
                """
                DELETE FROM fcm_import AS i USING sends.fcm_retained AS r WHERE r.app = \(app) AND i.event_at < r.since
                """
            ).affected
            let stored: Int64 = try connection.query(fold(app))[0].get(0)
            return Counts(stored: Int(stored), erased: erased, tooOld: tooOld)
        }
    }

    /// Adds the new rows, and merges them into the facts of their messages. In the order of the keys, as for sends.
    private static func fold(_ app: Int32) -> Statement {
        """
        WITH fresh AS (
            INSERT INTO sends.fcm_row (app, event_at, event, message_key, instance_id, message_id, message_type,
                project_number, sdk_platform, app_name, collapse_key, priority, ttl, topic, bulk_id, analytics_label)
            SELECT \(app), event_at, event, message_key, instance_id, message_id, message_type, project_number,
                sdk_platform, app_name, collapse_key, priority, ttl, topic, bulk_id, analytics_label
            FROM fcm_import ORDER BY event_at, event, message_key, instance_id
            ON CONFLICT (app, event_at, event, message_key, instance_id) DO NOTHING
            RETURNING event_at, event, message_key, instance_id, message_type, bulk_id, analytics_label
        ), merged AS (
            INSERT INTO sends.fcm_message AS m
                (app, message_key, instance_id, first_at, bulk_id, accepted, delivered, is_data, analytics_label)
            SELECT \(app), message_key, instance_id, min(event_at), max(bulk_id), bool_or(event = 'MESSAGE_ACCEPTED'),
                bool_or(event = 'MESSAGE_DELIVERED'), coalesce(bool_or(message_type = 'DATA_MESSAGE'), false),
                coalesce(max(analytics_label COLLATE "C"), '')
            FROM fresh
            WHERE event IN ('MESSAGE_ACCEPTED', 'MESSAGE_DELIVERED') AND message_key <> ''
                AND message_type IS DISTINCT FROM 'TOPIC'
            GROUP BY message_key, instance_id ORDER BY message_key, instance_id
            ON CONFLICT (message_key, instance_id, app) DO UPDATE
            SET first_at = least(m.first_at, excluded.first_at), bulk_id = greatest(m.bulk_id, excluded.bulk_id),
                accepted = m.accepted OR excluded.accepted,
                delivered = m.delivered OR excluded.delivered, is_data = m.is_data OR excluded.is_data,
                analytics_label = greatest(m.analytics_label, excluded.analytics_label)
        ), topics AS (
            INSERT INTO sends.fcm_topic AS t (app, bulk_id, first_at, message_key, analytics_label)
            SELECT \(app), bulk_id, min(event_at), min(message_key COLLATE "C"),
                coalesce(max(analytics_label COLLATE "C"), '')
            FROM fresh
            WHERE message_type = 'TOPIC' AND bulk_id IS NOT NULL AND message_key <> ''
            GROUP BY bulk_id ORDER BY bulk_id
            ON CONFLICT (app, bulk_id) DO UPDATE
            SET first_at = least(t.first_at, excluded.first_at),
                message_key = least(t.message_key, excluded.message_key),
                analytics_label = greatest(t.analytics_label, excluded.analytics_label)
        )
        SELECT count(*) FROM fresh
        """
    }

    private static func copyRows(_ rows: [FCMExportRow]) -> CopyRows {
        var copy = CopyRows(columns: 15)
        for row in rows {
            let key = row.messageKey
            copy.beginRow()
            copy.append(row.eventAt)
            copy.append(row.event)
            copy.append(key)
            copy.append(row.instanceID)
            copy.append(row.messageID == key ? nil : row.messageID)
            copy.append(row.messageType)
            copy.append(row.projectNumber)
            copy.append(row.sdkPlatform)
            copy.append(row.appName)
            copy.append(row.collapseKey)
            copy.append(row.priority)
            copy.append(row.timeToLive)
            copy.append(row.topic)
            copy.append(row.bulkID)
            copy.append(row.analyticsLabel)
        }
        return copy
    }
}
