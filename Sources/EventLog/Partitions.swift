package import Postgres
package import ServiceRuntime
package import Values

/// The months of the log. Made ahead of need; made later for months that turn out to have events.
package enum Partitions {
    /// How far back a month gets a partition of its own; what is older stays with the absurd clocks.
    static let monthsBack = 36
    static let monthsAhead = 2

    /// What a round of `keep` left to do.
    package enum Outcome: Sendable { case complete, tryAgainSoon }

    /// Makes what is missing around this moment, and those of `asked` that lie in reach. Stops at the first one that
    /// cannot be had at once, since somebody reads there and writers wait as long as we do.
    package static func keep(
        _ asked: Set<CivilDate> = [], at now: Timestamp, book: PartitionRequests, on connection: inout Connection,
        log: Log
    ) throws(PostgresError) -> Outcome {
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

    /// The months that have no partition and should: around now, those asked for, those with rows in the default one.
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
