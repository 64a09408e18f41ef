internal import Postgres
package import Telemetry

/// Which stretches of the log are read where a whole month of it could be too much.
///
/// The log is laid out by the devices' clocks, and holds all apps. Up to `mostDeliveries` in the four weeks it is read
/// whole; beyond that, one minute of every so many. Their number has no factor in common with hours and days, so over
/// the weeks the minutes fall on all times of the day, and each hour has as many. The same minutes are chosen again when
/// the report is made again.
package struct LogSample: Sendable {
    /// About three events each: what is read in a second or two.
    package static let mostDeliveries: Int64 = 500_000
    /// The days up to the report's that are looked at.
    static let days = 28

    let start: Timestamp
    let end: Timestamp
    /// Minutes from the start of a stretch to the start of the next.
    package let step: Int32
    /// Minutes that a stretch lasts.
    package let width: Int32

    /// Days of device time on either side, for clocks that are off.
    private static let margin: Int64 = 2 * 86_400_000_000

    static func choose(
        for scope: ReportScope, mostDeliveries: Int64, on connection: inout Connection
    ) throws(PostgresError) -> LogSample {
        // The four weeks before the day, and the day.
        let days = scope.first(of: days + 1)...scope.day
        let deliveries: Int64 = try connection.query(
            """
            SELECT coalesce(sum(deliveries), 0)::bigint FROM (
                SELECT sum(delivered) AS deliveries FROM analytics.category_funnel
                WHERE day BETWEEN \(days.lowerBound) AND \(days.upperBound)
                UNION ALL
                SELECT sum(woken) FROM analytics.silent_funnel
                WHERE day BETWEEN \(days.lowerBound) AND \(days.upperBound)
            ) AS funnels
            """)[0].get(0)
        let ends = try scope.ends(of: days.lowerBound.advanced(by: -1)...scope.day, on: &connection)
        return LogSample(
            start: ends[0].end + -margin, end: ends[ends.count - 1].end + margin, deliveries: deliveries,
            mostDeliveries: mostDeliveries)
    }

    /// From `start` to `end`, in which there were so many deliveries.
    package init(
        start: Timestamp, end: Timestamp, deliveries: Int64, mostDeliveries: Int64 = LogSample.mostDeliveries
    ) {
        (self.start, self.end) = (start, end)
        guard deliveries > mostDeliveries else {
            (step, width) = (1_440, 1_440)
            return
        }
        var every = Int32(clamping: (deliveries - 1) / mostDeliveries + 1)
        while every % 2 == 0 || every % 3 == 0 || every % 5 == 0 { every += 1 }
        (step, width) = (every, 1)
    }
}
