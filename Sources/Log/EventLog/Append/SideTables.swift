internal import Accounts
internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// What a batch writes besides its events. Rows are in key order, so that crossing batches wait and never deadlock.
enum SideTables {
    /// Returns the rows that it stored; the others existed already.
    static func insertRefusals(_ refusals: [Refusal], batchID: Int64) -> Statement {
        let rows = refusals.sorted { left, right in
            left.app != right.app ? left.app < right.app : left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes)
        }
        return """
            INSERT INTO log.rejected
                (batch_id, app, key, install_id, received_at, sent_at, event_id, reason, detail, source, raw, raw_hash)
            SELECT \(batchID), r.*
            FROM unnest(\(rows.map(\.app)), \(rows.map(\.key)), \(Nullables(rows.map(\.install))),
                \(rows.map(\.receivedAt)), \(Nullables(rows.map(\.sentAt))), \(Nullables(rows.map(\.event.id))),
                \(rows.map(\.event.rejection.reason.rawValue)), \(rows.map(\.event.rejection.detail.storable)),
                \(Nullables(rows.map { $0.source?.storable })), \(rows.map(\.event.raw.storable)),
                \(rows.map { Bytea($0.hash.bytes) })) AS r
            ON CONFLICT (app, raw_hash) DO NOTHING
            RETURNING app, raw_hash
            """
    }

    /// Reads what `insertRefusals` returned.
    static func storedRefusals(_ rows: Rows) throws(PostgresError) -> Set<Refusal.Identity> {
        var stored: Set<Refusal.Identity> = []
        for row in rows {
            guard let hash = SHA256(stored: try row.get(1, as: Bytea.self).bytes) else { continue }
            stored.insert(Refusal.Identity(app: try row.get(0), hash: hash))
        }
        return stored
    }

    static func insertDrops(_ reports: [DropReport], batchID: Int64) -> Statement {
        let rows = reports.sorted { left, right in (left.app, left.drop.id) < (right.app, right.drop.id) }
        return """
            INSERT INTO log.client_drop (batch_id, app, id, key, install_id, received_at, count, since, reason)
            SELECT \(batchID), d.*
            FROM unnest(\(rows.map(\.app)), \(rows.map(\.drop.id)), \(rows.map(\.key)), \(Nullables(rows.map(\.install))),
                \(rows.map(\.receivedAt)), \(rows.map(\.drop.count)), \(Nullables(rows.map(\.drop.since))),
                \(Nullables(rows.map(\.drop.reason?.wire)))) AS d
            ON CONFLICT (app, id) DO NOTHING
            """
    }

    static func countRejected(app: Int32, day: Timestamp) -> Statement {
        let start = Timestamp(microseconds: day.microseconds / 86_400_000_000 * 86_400_000_000)
        return """
            SELECT count(*),
                coalesce(sum(octet_length(raw) + octet_length(detail) + coalesce(octet_length(source), 0)), 0)::bigint
            FROM log.rejected
            WHERE app = \(app) AND received_at >= \(start) AND received_at < \(start + 86_400_000_000)
            """
    }
}

extension String {
    /// A PostgreSQL text can hold everything but NUL, and a NUL must not make the whole statement fail.
    fileprivate var storable: String {
        guard utf8.contains(0) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }
}
