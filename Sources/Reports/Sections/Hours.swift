internal import Postgres
internal import Telemetry

/// An hour of the day, by the first event of each delivery.
struct Hour: Hashable, Sendable {
    var hour: Int
    var delivered: Int64
    var response: Rate
}

enum HoursSection: ReportSection {
    /// By the clock of the app's time zone: when it is put back, one of the hours lasts two.
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard !report.isSealed else { return }
        let rows = try connection.query(
            """
            SELECT
                extract(hour FROM first_occurred_at AT TIME ZONE \(scope.timeZone))::integer AS hour, count(*),
                count(*) FILTER (WHERE received_responded), count(*) FILTER (WHERE received)
            FROM analytics.deliveries WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent GROUP BY hour
            """)
        var hours = (0..<24).map { Hour(hour: $0, delivered: 0, response: Rate(0, of: 0)) }
        for row in rows {
            let hour = Int(try row.get(0, as: Int32.self))
            hours[hour] = Hour(
                hour: hour, delivered: try row.get(1), response: Rate(try row.get(2), of: try row.get(3)))
        }
        report.hours = hours
    }

    static func words(_ report: Report) -> Page.Section? {
        let most = report.hours.map(\.delivered).max() ?? 0
        guard most > 0 else { return nil }
        let table = Table("By the time of the first event, in \(report.timeZone)", of: report.hours, most: 24) { hour in
            [
                .text("Hour", "\(hour.hour < 10 ? "0" : "")\(hour.hour):00"),
                .bar("Delivered", Wording.count(hour.delivered), share: Double(hour.delivered) / Double(most)),
                .bar("Response rate", hour.response),
            ]
        }
        return Page.Section("Hour of day", [.table(table)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("hours", report.hours) {
            Entry(
                keys: [.count("hour", $0.hour)], facts: [.count("delivered", $0.delivered)] + $0.response.asResponse
            )
        }
    }
}
