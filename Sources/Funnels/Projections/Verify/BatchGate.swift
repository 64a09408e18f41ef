internal import Postgres

/// Checks that the log has, in one shard, as many events of each batch as were committed and not removed since.
enum BatchGate {
    /// The first batches up to a position with a wrong number of events, and how many such batches there are.
    ///
    /// Batches before `first` are not looked at. `counts` is SQL for how many events each batch has in the shard. This
    /// needs one pass, while `log.batch_expected` would look up the losses of each batch.
    static func gaps(
        among counts: String, shard: Int16, from first: Int64 = 1, position: Int64, atMost limit: Int,
        on connection: inout Connection
    ) throws(PostgresError) -> (first: [BatchGap], count: Int64) {
        let sql = """
            SELECT number, expected::bigint, found, count(*) OVER () AS gaps FROM (
                SELECT
                    b.number, b.shard_events[\(shard) + 1] - coalesce(lost.events, 0) AS expected,
                    coalesce(present.events, 0) AS found
                FROM log.batch AS b
                LEFT JOIN (
                    SELECT batch_id, sum(events) AS events FROM log.batch_loss_now
                    WHERE shard = \(shard) GROUP BY batch_id
                ) AS lost ON lost.batch_id = b.id
                LEFT JOIN (
                    \(counts)
                ) AS present ON present.batch = b.number
                WHERE b.number BETWEEN \(first) AND \(position)
            ) AS batch
            WHERE found IS DISTINCT FROM expected ORDER BY number LIMIT \(limit)
            """
        let rows = try connection.query(Statement(sql))
        var gaps: [BatchGap] = []
        for row in rows {
            gaps.append(
                BatchGap(
                    shard: shard, batch: try row.get("number"), expected: try row.optional("expected"),
                    found: try row.get("found")))
        }
        return (gaps, try rows.first?.get("gaps") ?? 0)
    }
}

/// A batch with a wrong number of events in a shard.
package struct BatchGap: Sendable {
    package let shard: Int16
    package let batch: Int64
    /// The events committed, less those that erasure and retention removed. Nil if the batch has no events in this
    /// shard.
    package let expected: Int64?
    package let found: Int64
}
