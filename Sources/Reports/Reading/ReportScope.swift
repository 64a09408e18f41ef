internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// What all sections of a report are read for.
struct ReportScope {
    let app: String
    let day: CivilDate
    /// The app's, whose midnights bound the day.
    let timeZone: String
    let now: Timestamp

    /// Finds the app, whose days must all be those of its time zone.
    static func find(
        _ app: String, day: CivilDate, now: Timestamp, on connection: inout Connection
    ) throws(ReportError) -> ReportScope {
        let found = try ReportedApp.find(app, at: now, on: &connection)
        guard !found.daysAreMoving else { throw .daysAreMoving(app: found.slug, timeZone: found.timeZone) }
        return ReportScope(app: found.slug, day: day, timeZone: found.timeZone, now: now)
    }

    /// The first of so many days that end with the report's.
    func first(of days: Int) -> CivilDate { day.advanced(by: 1 - days) }

    /// Whether retention has dropped any of the day's deliveries, so many of which the funnels count: those keep them.
    func isSealed(delivered: Int64, on connection: inout Connection) throws(PostgresError) -> Bool {
        let deliveries: Int64 = try connection.query(
            "SELECT count(*) FROM analytics.deliveries WHERE app = \(app) AND day = \(day) AND NOT silent")[0].get(0)
        return deliveries < delivered
    }

    /// When days end, in their order.
    func ends(
        of days: ClosedRange<CivilDate>, on connection: inout Connection
    ) throws(PostgresError) -> [(day: CivilDate, end: Timestamp)] {
        let count = Int32(days.upperBound.daysSince1970 - days.lowerBound.daysSince1970)
        let rows = try connection.query(
            """
            SELECT \(days.lowerBound) + n, (\(days.lowerBound) + n + 1)::timestamp AT TIME ZONE \(timeZone)
            FROM generate_series(0, \(count)) AS n ORDER BY n
            """)
        var ends: [(day: CivilDate, end: Timestamp)] = []
        for row in rows { ends.append((try row.get(0), try row.get(1))) }
        return ends
    }

    /// Whole hours from then to the making of the report, negative before it.
    func hours(since moment: Timestamp) -> Int {
        Int(saturating: (Double(now - moment) / 3_600_000_000).rounded(.down))
    }
}
