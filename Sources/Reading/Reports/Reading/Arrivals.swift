internal import Postgres
internal import Telemetry
internal import Values

/// How long the events of each day took to arrive. Each belongs to the day on which it occurred, as far as is known.
///
/// They are read from the log, which costs more than all the rest of a report. So the days of a week share one reading.
struct Arrivals: Sendable {
    /// By day and by hour after its end.
    private var events: [CivilDate: [Int: Int64]] = [:]
    private var receipts: [CivilDate: [Int: Int64]] = [:]
    private let ends: [(day: CivilDate, end: Timestamp)]

    /// Those of the four weeks before each day of the report.
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Arrivals {
        let (first, last) = (scope.firstDay.advanced(by: -LogSample.days), scope.day.advanced(by: -1))
        let sample = scope.sample
        let rows = try connection.query(
            """
            SELECT day, hour, sum(events)::bigint, sum(receipts)::bigint
            FROM generate_series(\(sample.start), \(sample.end), make_interval(mins => \(sample.step))) AS stretch
            CROSS JOIN LATERAL (
                SELECT
                    day,
                    greatest(ceil(extract(
                        epoch FROM received_at - ((day + 1)::timestamp AT TIME ZONE \(scope.timeZone))) / 3600), 0
                    )::integer AS hour,
                    count(*) AS events, count(*) FILTER (WHERE type = 'notification.received') AS receipts
                FROM (
                    SELECT (occurred_at AT TIME ZONE \(scope.timeZone))::date AS day, received_at, type
                    FROM analytics.events
                    WHERE app = \(scope.app) AND device_at >= stretch
                        AND device_at < stretch + make_interval(mins => \(sample.width))
                        AND occurred_at >= \(sample.start) AND occurred_at < \(sample.end)
                ) AS event
                WHERE day BETWEEN \(first) AND \(last)
                GROUP BY 1, 2
            ) AS part
            GROUP BY day, hour
            """)
        var arrivals = Arrivals(ends: try (first...scope.day).ends(in: scope.timeZone, on: &connection))
        for row in rows {
            let (day, hour): (CivilDate, Int) = (try row.get(0), Int(try row.get(1, as: Int32.self)))
            arrivals.events[day, default: [:]][hour] = try row.get(2, as: Int64.self)
            arrivals.receipts[day, default: [:]][hour] = try row.get(3, as: Int64.self)
        }
        return arrivals
    }

    private init(ends: [(day: CivilDate, end: Timestamp)]) { self.ends = ends }

    /// How events and receipts of the four weeks before a day arrive, and the end of that day.
    func curves(
        before day: CivilDate, _ scope: ReportScope
    ) -> (events: ArrivalCurve, receipts: ArrivalCurve, end: Timestamp) {
        let days = day.advanced(by: -LogSample.days)..<day
        var (curve, receiptCurve) = (ArrivalCurve(), ArrivalCurve())
        for (day, end) in ends where days.contains(day) {
            let hours = scope.hours(since: end)
            curve.addDay(watched: hours, arrivals: events[day] ?? [:])
            receiptCurve.addDay(watched: hours, arrivals: receipts[day] ?? [:])
        }
        return (curve, receiptCurve, ends.last { $0.day <= day }?.end ?? scope.now)
    }
}
