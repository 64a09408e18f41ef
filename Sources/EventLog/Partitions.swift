package import Postgres
package import ServiceRuntime
package import Telemetry

/// The months of the log. Made ahead of need; made later for months that turn out to have events.
package enum Partitions {
    /// How far back a month gets a partition of its own; what is older stays with the absurd clocks.
    static let monthsBack = 36
    static let monthsAhead = 2

    /// Makes what is missing around this moment. Months that could not be had at once, since somebody reads there, are
    /// returned and are to be tried again soon.
    package static func keep(
        at now: Timestamp, on connection: inout Connection, log: Log
    ) throws(PostgresError) -> [CivilDate] {
        var missing: [CivilDate] = []
        for month in try wanted(at: now, on: &connection) {
            do {
                let made: Bool = try connection.query("SELECT log.make_partition(\(month))")[0].get(0)
                if made { log.info("made the partition of a month", ["month": "\(month)"]) }
            } catch {
                guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
                missing.append(month)
            }
        }
        return missing
    }

    /// The months that have no partition and should: around now, and those with rows in the default partition.
    private static func wanted(at now: Timestamp, on connection: inout Connection) throws(PostgresError) -> [CivilDate]
    {
        let today = CivilDate(daysSince1970: Int(now.microseconds / 86_400_000_000))
        let rows = try connection.query(
            """
            SELECT month::date FROM (
                SELECT generate_series(
                    date_trunc('month', \(today)) - interval '1 month',
                    date_trunc('month', \(today)) + \(Int32(monthsAhead)) * interval '1 month', interval '1 month')
                UNION
                SELECT * FROM generate_series(
                    date_trunc('month', \(today)) - \(Int32(monthsBack)) * interval '1 month',
                    date_trunc('month', \(today)), interval '1 month') AS past (month)
                WHERE EXISTS (
                    SELECT FROM log.event_elsewhere
                    WHERE device_at >= past.month AND device_at < past.month + interval '1 month')
            ) AS wanted (month)
            WHERE NOT EXISTS (SELECT FROM log.partition AS p WHERE p.month = wanted.month::date)
            ORDER BY month DESC
            """)
        var months: [CivilDate] = []
        for row in rows { months.append(try row.get(0)) }
        return months
    }
}
