internal import Postgres

/// Finds the events that the log already has.
///
/// The unique index has a hash of each identity. So the probe looks at the entries with the same time and hash, hardly
/// ever more than one, and compares the full identities.
enum Probe {
    /// The query for the candidates, which are in order; nil if there are none.
    static func statement(_ candidates: [Candidate]) -> Statement? {
        guard let first = candidates.first?.identity, let last = candidates.last?.identity else { return nil }
        let keys = candidates.map(\.identity)
        return """
            SELECT candidate.place::integer - 1
            FROM (
                SELECT *, \(sql: hash) AS hash
                FROM unnest(\(keys.map(\.deviceAt)), \(keys.map(\.id)), \(keys.map(\.install)), \(keys.map(\.app)))
                    WITH ORDINALITY AS key (device_at, event_id, install_id, app, place)
            ) AS candidate
            CROSS JOIN LATERAL (
                SELECT FROM log.event AS e
                WHERE e.device_at BETWEEN \(first.deviceAt) AND \(last.deviceAt) AND \(sql: isAlike)
                    AND e.event_id = candidate.event_id AND e.install_id = candidate.install_id AND e.app = candidate.app
                LIMIT 1
            ) AS known
            """
    }

    /// The hash of each candidate, and the ties that other events of the same time and hash have. Needed only if the
    /// unique index refused a batch although the log has none of it.
    static func ties(_ candidates: [Candidate]) -> Statement {
        let keys = candidates.map(\.identity)
        return """
            SELECT candidate.hash,
                ARRAY(
                    SELECT e.codes & 15 FROM log.event AS e
                    WHERE \(sql: isAlike)
                        AND (e.event_id, e.install_id, e.app)
                            <> (candidate.event_id, candidate.install_id, candidate.app))
            FROM (
                SELECT *, \(sql: hash) AS hash
                FROM unnest(\(keys.map(\.deviceAt)), \(keys.map(\.id)), \(keys.map(\.install)), \(keys.map(\.app)))
                    WITH ORDINALITY AS key (device_at, event_id, install_id, app, place)
            ) AS candidate
            ORDER BY candidate.place
            """
    }

    /// As in the index `event_identity`, with the four lowest bits free for the tie.
    private static let hash: StaticString =
        "uuid_hash_extended(event_id, uuid_hash_extended(install_id, app::bigint)) & -16"

    /// Whether an event `e` has the time and the hash of the candidate, whatever its tie.
    private static let isAlike: StaticString = """
        e.device_at = candidate.device_at
            AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                | (e.codes & 15)::bigint) BETWEEN candidate.hash AND candidate.hash | 15
        """

    /// Reads the answer: the places of the candidates that the log has.
    static func places(_ rows: Rows) throws(PostgresError) -> Set<Int> {
        var places: Set<Int> = []
        for row in rows { places.insert(Int(try row.get(0, as: Int32.self))) }
        return places
    }
}
