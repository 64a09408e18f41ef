internal import Postgres

/// Asks which events the log holds already.
enum Probe {
    /// The question for these candidates, which stand in key order; nil when there are none.
    static func statement(_ candidates: ArraySlice<PendingBatch.Candidate>) -> Statement? {
        guard let first = candidates.first?.identity, let last = candidates.last?.identity else { return nil }
        let keys = candidates.map(\.identity)
        return """
            SELECT candidate.place::integer - 1
            FROM unnest(\(keys.map(\.deviceAt)), \(keys.map(\.id)), \(keys.map(\.install)), \(keys.map(\.app)),
                \(keys.map(\.shard))) WITH ORDINALITY AS candidate (device_at, event_id, install_id, app, shard, place)
            CROSS JOIN LATERAL (
                SELECT FROM log.event AS e
                WHERE e.device_at BETWEEN \(first.deviceAt) AND \(last.deviceAt)
                    AND e.device_at = candidate.device_at AND e.event_id = candidate.event_id
                    AND e.install_id = candidate.install_id AND e.app = candidate.app AND e.shard = candidate.shard
                LIMIT 1
            ) AS known
            """
    }

    /// Which of the candidates, by their place, the answer says that the log holds.
    static func places(_ rows: Rows) throws(PostgresError) -> Set<Int> {
        var places: Set<Int> = []
        for row in rows { places.insert(Int(try row.get(0, as: Int32.self))) }
        return places
    }
}
