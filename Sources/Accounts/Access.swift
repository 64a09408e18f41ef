package import Postgres

/// What a key lets its bearer do: what ingestion has to know of it.
package struct Access: Sendable {
    package let hash: SHA256
    package let key: Int32
    package let kind: APIKey.Kind
    package let isRevoked: Bool
    package let app: Int32
    package let slug: String
    package let rateLimit: RateLimit?

    /// All keys, revoked ones too: a revoked key is told from an unknown one.
    package static func all(on connection: inout Connection) throws(PostgresError) -> [Access] {
        try read(try connection.queryPrepared("\(sql: selection)"))
    }

    /// The keys with these hashes.
    package static func find(_ hashes: [SHA256], on connection: inout Connection) throws(PostgresError) -> [Access] {
        try read(
            try connection.queryPrepared("\(sql: selection) WHERE key.hash = ANY (\(hashes.map { Bytea($0.bytes) }))"))
    }

    private static let selection: StaticString =
        """
        SELECT key.hash, key.id, key.kind, key.revoked_at IS NOT NULL, app.id, app.slug, app.rate_limit, app.rate_burst
        FROM log.api_key AS key JOIN log.app AS app ON app.id = key.app
        """

    private static func read(_ rows: Rows) throws(PostgresError) -> [Access] {
        var all: [Access] = []
        for row in rows {
            guard let hash = SHA256(stored: try row.get(0, as: Bytea.self).bytes) else { continue }
            let rate: Double? = try row.optional(6)
            let burst: Double? = try row.optional(7)
            all.append(
                Access(
                    hash: hash, key: try row.get(1), kind: APIKey.Kind(rawValue: try row.get(2)) ?? .write,
                    isRevoked: try row.get(3), app: try row.get(4), slug: try row.get(5),
                    rateLimit: rate.map { RateLimit(eventsPerSecond: $0, burst: burst ?? $0) }))
        }
        return all
    }
}
