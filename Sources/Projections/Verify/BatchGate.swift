internal import Postgres

/// Whether the log holds, in one shard, as many events of each batch as were committed and not taken away again.
enum BatchGate {
    /// The first batches up to a position that hold another number of events than they should, and how many do.
    ///
    /// Asks `RecountTables`, which must exist. In one pass, where `log.batch_expected` would look up the losses of each
    /// batch.
    static func gaps(
        shard: Int16, position: Int64, atMost limit: Int, on connection: inout Connection
    ) throws(PostgresError) -> (first: [BatchGap], count: Int64) {
        let sql = """
            SELECT number, expected::bigint, found, count(*) OVER () FROM (
                SELECT
                    b.number, b.shard_events[\(shard) + 1] - coalesce(lost.events, 0) AS expected,
                    coalesce(present.events, 0) AS found
                FROM log.batch AS b
                LEFT JOIN (
                    SELECT batch_id, sum(events) AS events FROM log.batch_loss_now
                    WHERE shard = \(shard) GROUP BY batch_id
                ) AS lost ON lost.batch_id = b.id
                LEFT JOIN (
                    SELECT batch, count(*) AS events FROM recount_log GROUP BY batch
                ) AS present ON present.batch = b.number
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

/// A batch with another number of events in a shard than it should have.
package struct BatchGap: Sendable {
    package let shard: Int16
    package let batch: Int64
    /// What was committed, less what erasure and retention took. Nil when the batch knows of no such shard.
    package let expected: Int64?
    package let found: Int64
}
