internal import Postgres
internal import Telemetry

extension Settling {
    /// From the events of the four weeks before the day. They are of the days on which they occurred, as far as we know,
    /// wherever that time comes from: what is asked is how long they took to us.
    static func read(
        _ scope: ReportScope, of sample: LogSample, on connection: inout Connection
    ) throws(PostgresError) -> Settling {
        let (first, last) = (scope.first(of: LogSample.days + 1), scope.day.advanced(by: -1))
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
        var arrivals: [CivilDate: [Int: Int64]] = [:]
        var receipts: [CivilDate: [Int: Int64]] = [:]
        for row in rows {
            let (day, hour): (CivilDate, Int) = (try row.get(0), Int(try row.get(1, as: Int32.self)))
            arrivals[day, default: [:]][hour] = try row.get(2, as: Int64.self)
            receipts[day, default: [:]][hour] = try row.get(3, as: Int64.self)
        }
        let ends = try scope.ends(of: first...scope.day, on: &connection)
        var (curve, receiptCurve) = (ArrivalCurve(), ArrivalCurve())
        for (day, end) in ends.dropLast() {
            let hours = scope.hours(since: end)
            curve.addDay(watched: hours, arrivals: arrivals[day] ?? [:])
            receiptCurve.addDay(watched: hours, arrivals: receipts[day] ?? [:])
        }
        var settling = Settling(curve, hoursSinceEnd: scope.hours(since: ends[ends.count - 1].end))
        settling.receiptShare = receiptCurve.share(after: settling.hoursSinceEnd)
        return settling
    }

    private init(_ curve: ArrivalCurve, hoursSinceEnd: Int) {
        self.init(
            hoursSinceEnd: hoursSinceEnd, share: curve.share(after: hoursSinceEnd), events: curve.events,
            hoursTo95: curve.hours(to: 0.95), hoursTo99: curve.hours(to: 0.99))
    }
}
