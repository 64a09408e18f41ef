package import Postgres
package import Values

/// A rejected event as stored.
package struct StoredRejection: Sendable {
    package let id: Int64
    package let slug: String
    package let app: Int32
    package let key: Int32
    package let keyName: String?
    /// `write` or `server`; nil if there is no such key.
    package let keyKind: String?
    /// With which keys the app's goals are taken now.
    package let goals: String
    package let receivedAt: Timestamp
    package let sentAt: Timestamp?
    package let reason: String
    package let detail: String
    package let source: String?
    package let raw: String
    package let replayedAt: Timestamp?
}

/// Which rejected events to select.
package struct RejectionFilter: Sendable {
    package var app: String?
    package var reason: String?
    package var ids: [Int64]?
    /// Include those that were accepted later by a replay.
    package var includingReplayed = false
    package var limit: Int64 = 50
    /// Only rows after this one.
    package var after: Int64?

    package init() {}
}

/// The rejected events, for the owner.
package enum RejectedEvents {
    /// Lists the newest first or, when continuing after a row, the oldest first.
    package static func list(
        _ filter: RejectionFilter, on connection: inout Connection
    ) throws(PostgresError) -> [StoredRejection] {
        let rows = try connection.query(
            """
            SELECT r.id, app.slug, r.app, r.key, key.name, r.received_at, r.sent_at, r.reason, r.detail, r.source, r.raw,
                r.replayed_at, key.kind, app.goals
            FROM log.rejected AS r
            JOIN log.app AS app ON app.id = r.app
            LEFT JOIN log.api_key AS key ON key.id = r.key
            WHERE (\(filter.app) IS NULL OR app.slug = \(filter.app))
                AND (\(filter.reason) IS NULL OR r.reason = \(filter.reason))
                AND (\(filter.ids) IS NULL OR r.id = ANY (\(filter.ids)))
                AND (\(filter.includingReplayed) OR r.replayed_at IS NULL)
                AND (\(filter.after) IS NULL OR r.id > \(filter.after))
            ORDER BY CASE WHEN \(filter.after) IS NULL THEN -r.id ELSE r.id END
            LIMIT \(filter.limit)
            """)
        var rejections: [StoredRejection] = []
        for row in rows {
            rejections.append(
                StoredRejection(
                    id: try row.get(0), slug: try row.get(1), app: try row.get(2), key: try row.get(3),
                    keyName: try row.optional(4), keyKind: try row.optional(12), goals: try row.get(13),
                    receivedAt: try row.get(5), sentAt: try row.optional(6),
                    reason: try row.get(7), detail: try row.get(8), source: try row.optional(9), raw: try row.get(10),
                    replayedAt: try row.optional(11)))
        }
        return rejections
    }

    /// The numbers among these that belong to no rejected event.
    package static func unknown(_ ids: [Int64], on connection: inout Connection) throws(PostgresError) -> [Int64] {
        var unknown: [Int64] = []
        for row in try connection.query(
            """
            SELECT wanted.id FROM unnest(\(ids)) AS wanted (id)
            WHERE NOT EXISTS (SELECT FROM log.rejected AS r WHERE r.id = wanted.id) ORDER BY 1
            """)
        { unknown.append(try row.get(0)) }
        return unknown
    }

    /// Marks those that the log has accepted in a replay.
    package static func markReplayed(_ ids: [Int64], on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            "UPDATE log.rejected SET replayed_at = now() WHERE id = ANY (\(ids)) AND replayed_at IS NULL")
    }
}
