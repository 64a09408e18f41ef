package import Postgres
package import ServiceRuntime
package import Values

/// The monthly partitions of the log. They are created ahead of need, or later for months that turn out to have events.
package enum Partitions {
    /// How many months back a month can have its own partition. Older events are in the default partition, with those
    /// of absurd clocks.
    static let monthsBack = 36
    static let monthsAhead = 2

    /// Whether a round of `keep` created everything.
    package enum Completion: Sendable { case complete, tryAgainSoon }

    /// Creates missing partitions around this moment, and those of `asked` that are not too far away. Stops at the
    /// first one that a reader blocks, since writers wait as long as we do.
    package static func keep(
        _ asked: Set<CivilDate> = [], at now: Timestamp, book: PartitionRequests, on connection: inout Connection,
        log: Log
    ) throws(PostgresError) -> Completion {
        for month in try missing(asked, at: now, on: &connection) {
            do {
                let made: Bool? = try connection.query("SELECT log.make_partition(\(month))")[0].optional(0)
                switch made {
                case true: log.info("created a monthly partition", ["month": "\(month)"])
                case nil:
                    log.warning(
                        "a month gets no partition: too many of its rows are in the default partition",
                        ["month": "\(month)"])
                default: break
                }
                book.settle([month])
            } catch {
                guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
                return .tryAgainSoon
            }
        }
        book.settle(asked)
        book.settle(try existing(on: &connection))
        return .complete
    }

    private static func existing(on connection: inout Connection) throws(PostgresError) -> [CivilDate] {
        var months: [CivilDate] = []
        for row in try connection.query("SELECT month FROM log.partition") { months.append(try row.get(0)) }
        return months
    }

    /// The months that should have a partition and have none: around now, requested, or with rows in the default
    /// partition.
    private static func missing(
        _ asked: Set<CivilDate>, at now: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> [CivilDate] {
        let month = CivilDate(monthOf: now)
        let rows = try connection.query(
            """
            SELECT month::date FROM (
                SELECT generate_series(
                    \(month)::timestamp - interval '1 month', \(month)::timestamp + \(Int32(monthsAhead)) * interval '1 month',
                    interval '1 month')
                UNION
                SELECT unnest(\(Array(asked)))
                UNION
                SELECT past.month FROM generate_series(
                    \(month)::timestamp - \(Int32(monthsBack)) * interval '1 month', \(month)::timestamp,
                    interval '1 month') AS past (month)
                WHERE EXISTS (
                    SELECT FROM log.event_elsewhere
                    WHERE device_at >= past.month AT TIME ZONE 'UTC'
                        AND device_at < (past.month + interval '1 month') AT TIME ZONE 'UTC')
            ) AS wanted (month)
            WHERE wanted.month BETWEEN \(month)::timestamp - \(Int32(monthsBack)) * interval '1 month'
                    AND \(month)::timestamp + \(Int32(monthsAhead)) * interval '1 month'
                AND NOT EXISTS (SELECT FROM log.partition AS p WHERE p.month = wanted.month::date)
            ORDER BY month DESC
            """)
        var months: [CivilDate] = []
        for row in rows { months.append(try row.get(0)) }
        return months
    }
}
