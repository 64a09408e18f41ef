internal import Postgres
internal import Telemetry
internal import Values

/// The parts of the log that are read, since a whole month of it may be too much.
///
/// The log is ordered by the devices' clocks and contains all apps. If the four weeks have up to `mostDeliveries`, it
/// is read whole; if they have more, one minute in every so many is read. That number has no factor in common with the
/// minutes of a day, so over the weeks the minutes are spread evenly over the day. A report that is made again reads
/// the same minutes.
struct LogSample: Sendable {
    /// With about three events each, this is read in a second or two.
    static let mostDeliveries: Int64 = 500_000
    /// The number of days before the report's that are read.
    static let days = 28

    let start: Timestamp
    let end: Timestamp
    /// Minutes from the start of a stretch to the start of the next.
    let step: Int32
    /// Minutes that a stretch lasts.
    let width: Int32

    /// Two days of device time on either side, for clocks that are off.
    private static let margin: Int64 = 2 * 86_400_000_000

    /// For the report of these days.
    static func choose(
        days reported: ClosedRange<CivilDate>, timeZone: String, mostDeliveries: Int64, on connection: inout Connection
    ) throws(PostgresError) -> LogSample {
        // The four weeks before them, and they.
        let days = reported.lowerBound.advanced(by: -days)...reported.upperBound
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
        let ends = try (days.lowerBound.advanced(by: -1)...days.upperBound).ends(in: timeZone, on: &connection)
        return LogSample(
            start: ends[0].end + -margin, end: ends[ends.count - 1].end + margin, deliveries: deliveries,
            mostDeliveries: mostDeliveries)
    }

    /// From `start` to `end`, when there were so many deliveries.
    init(
        start: Timestamp, end: Timestamp, deliveries: Int64, mostDeliveries: Int64 = LogSample.mostDeliveries
    ) {
        (self.start, self.end) = (start, end)
        guard deliveries > mostDeliveries else {
            // In one piece: a hub asks its cells again for each.
            let minutes = Int32(clamping: (end.microseconds - start.microseconds) / 60_000_000 + 1)
            (step, width) = (minutes, minutes)
            return
        }
        var every = Int32(clamping: (deliveries - 1) / mostDeliveries + 1)
        while every % 2 == 0 || every % 3 == 0 || every % 5 == 0 { every += 1 }
        (step, width) = (every, 1)
    }
}
