package import Postgres
package import Telemetry
package import Values

/// The state of the log, for an operator.
package struct LogStatus: Sendable {
    package struct Partition: Sendable {
        package let name: String
        package let bytes: Int64
        /// PostgreSQL's estimate, made when it last looked.
        package let estimatedRows: Int64
    }

    /// The newest batch; 0 on an empty log.
    package let head: Int64
    package let lastCommitAt: Timestamp?
    /// The events that the log has: committed, less those removed.
    package let events: Int64
    package let apps: Int64
    package let rejected: Int64
    package let databaseBytes: Int64
    package let partitions: [Partition]

    package static func read(on connection: inout Connection) throws(PostgresError) -> LogStatus {
        let totals = try connection.query(
            """
            SELECT coalesce(max(number), 0), max(committed_at),
                coalesce(sum(events), 0)::bigint - (SELECT coalesce(sum(events), 0)::bigint FROM log.batch_loss_now),
                (SELECT count(*) FROM log.app), (SELECT count(*) FROM log.rejected WHERE replayed_at IS NULL),
                pg_database_size(current_database())
            FROM log.batch
            """)[0]
        let rows = try connection.query(
            """
            SELECT c.relname, pg_total_relation_size(c.oid), greatest(c.reltuples, 0)::bigint
            FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'log.event'::regclass ORDER BY c.relname
            """)
        var partitions: [Partition] = []
        for row in rows {
            partitions.append(Partition(name: try row.get(0), bytes: try row.get(1), estimatedRows: try row.get(2)))
        }
        return LogStatus(
            head: try totals.get(0), lastCommitAt: try totals.optional(1), events: try totals.get(2),
            apps: try totals.get(3), rejected: try totals.get(4), databaseBytes: try totals.get(5),
            partitions: partitions)
    }
}

extension Shard {
    /// The number of shards in this database. It never changes.
    package static func count(on connection: inout Connection) throws(PostgresError) -> Int16 {
        try connection.query("SELECT shards FROM log.head")[0].get(0)
    }
}
