package import Postgres
package import Values

/// An erasure that one of an app's own servers asks for. It stands in the first cell of a cluster, and the owner
/// performs it.
package enum ErasureRequest {
    /// What became of it.
    package enum State: Sendable {
        case waiting(since: Timestamp)
        /// The receipt, as JSON.
        case erased(receipt: String)
        /// Too many erasures of the app wait.
        case full
    }

    /// The most erasures of an app that wait; `log.request_erasure` has the same number.
    package static let most = 1000

    /// Asks for it, or for what became of it, with a server key and the proof that the caller has it.
    package static func submit(
        _ install: UUID, key: Int32, proof: [UInt8], on connection: inout Connection
    ) throws(PostgresError) -> State {
        let row = try connection.query(
            "SELECT state, requested_at, receipt FROM log.request_erasure(\(key), \(Bytea(proof)), \(install))")[0]
        switch try row.get(0, as: String.self) {
        case "waiting": return .waiting(since: try row.get(1))
        case "erased": return .erased(receipt: try row.get(2))
        default: return .full
        }
    }

    /// The erasures that wait.
    package struct Backlog: Sendable, Equatable {
        package let count: Int
        /// When the first of them was asked for; nil if none waits.
        package let oldest: Timestamp?
        /// Why one of them could not be done yet, if one was tried.
        package let fault: String?

        package init(count: Int, oldest: Timestamp?, fault: String?) {
            (self.count, self.oldest, self.fault) = (count, oldest, fault)
        }
    }

    package static func backlog(on connection: inout Connection) throws(PostgresError) -> Backlog {
        let row = try connection.query(
            "SELECT count(*)::int8, min(requested_at), max(fault) FROM log.erasure_request WHERE finished_at IS NULL")[
                0]
        return Backlog(
            count: Int(try row.get(0, as: Int64.self)), oldest: try row.optional(1), fault: try row.optional(2))
    }

    /// A request whose turn it is.
    package struct Turn: Sendable {
        package let app: Int32
        package let slug: String
        package let install: UUID
    }

    /// Takes the next request that was not tried since then, for as long as the caller's transaction: nobody else gets
    /// it meanwhile. Apps take turns.
    package static func take(
        notTriedSince moment: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> Turn? {
        let rows = try connection.query(
            """
            SELECT r.app, app.slug, r.install_id FROM log.erasure_request AS r JOIN log.app AS app ON app.id = r.app
            WHERE r.finished_at IS NULL AND (r.tried_at IS NULL OR r.tried_at < \(moment))
            ORDER BY (
                SELECT max(greatest(f.finished_at, f.tried_at)) FROM log.erasure_request AS f WHERE f.app = r.app
            ) NULLS FIRST,
                coalesce(r.tried_at, r.requested_at), r.install_id
            LIMIT 1 FOR UPDATE OF r SKIP LOCKED
            """)
        guard let row = rows.first else { return nil }
        return Turn(app: try row.get(0), slug: try row.get(1), install: try row.get(2))
    }

    /// Records that it is done, and forgets what was told long ago: the list of erased ids is another.
    package static func finish(
        _ turn: Turn, receipt: String, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            DELETE FROM log.erasure_request
            WHERE told_at < clock_timestamp() - interval '1 day' OR finished_at < clock_timestamp() - interval '90 days'
            """)
        try connection.query(
            """
            UPDATE log.erasure_request SET finished_at = clock_timestamp(), receipt = \(receipt), fault = NULL
            WHERE app = \(turn.app) AND install_id = \(turn.install)
            """)
    }

    /// Records that it could not be done. It is tried again.
    package static func fail(_ turn: Turn, fault: String, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            UPDATE log.erasure_request SET tried_at = clock_timestamp(), fault = left(\(fault), 2000)
            WHERE app = \(turn.app) AND install_id = \(turn.install)
            """)
    }
}
