internal import Postgres

/// Whether the log holds, in one shard, as many events of each batch as were committed.
enum BatchGate {
    /// What must be there of batch `b`, by its own count. What erasure and retention have taken away belongs here, too.
    private static func expected(shard: Int16) -> String { "b.shard_events[\(shard) + 1]" }

    /// The first batches up to a position that hold another number of events than they should, and how many do.
    static func gaps(
        shard: Int16, position: Int64, atMost limit: Int, on connection: inout Connection
    ) throws(PostgresError) -> (first: [BatchGap], count: Int64) {
        let sql = """
            SELECT number, expected::bigint, found, count(*) OVER () FROM (
                SELECT b.number, \(expected(shard: shard)) AS expected, coalesce(e.events, 0) AS found
                FROM log.batch AS b
                LEFT JOIN (
                    SELECT batch_id, count(*) AS events FROM log.event WHERE shard = \(shard) GROUP BY batch_id
                ) AS e ON e.batch_id = b.id
                WHERE b.number <= \(position)
            ) AS batch
            WHERE found IS DISTINCT FROM expected ORDER BY number LIMIT \(limit)
            """
        let rows = try connection.query(Statement(sql))
        var gaps: [BatchGap] = []
        for row in rows {
            gaps.append(
                BatchGap(shard: shard, batch: try row.get(0), expected: try row.optional(1), found: try row.get(2)))
        }
        return (gaps, try rows.first?.get(3) ?? 0)
    }
}

/// A batch with another number of events in a shard than were committed.
package struct BatchGap: Sendable {
    package let shard: Int16
    package let batch: Int64
    /// Nil when the batch knows of no such shard.
    package let expected: Int64?
    package let found: Int64
}
