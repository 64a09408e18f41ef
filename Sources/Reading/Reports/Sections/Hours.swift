internal import Postgres
internal import Telemetry
internal import Values

/// The deliveries that were received in an hour of the day, and how many of them responded at any time.
struct Hour: Hashable, Sendable {
    var hour: Int
    var response: Rate
}

enum HoursSection: ReportSection {
    /// By the clock of the app's time zone: when it is put back, one of the hours lasts two. A delivery belongs to the
    /// day of its first event, so the receipt of a few stands in an hour of a later day.
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard !report.isSealed else { return }
        let rows = try connection.query(
            """
            SELECT
                extract(hour FROM received_at AT TIME ZONE \(scope.timeZone))::integer AS hour,
                count(*) FILTER (WHERE received_responded), count(*)
            FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent AND received GROUP BY hour
            """)
        var hours = (0..<24).map { Hour(hour: $0, response: Rate(0, of: 0)) }
        for row in rows {
            let hour = Int(try row.get(0, as: Int32.self))
            hours[hour].response = Rate(try row.get(1), of: try row.get(2))
        }
        report.hours = hours
    }

    static func words(_ report: Report) -> Page.Section? {
        let most = report.hours.map(\.response.whole).max() ?? 0
        guard most > 0 else { return nil }
        let table = Table("By the time of the receipt, in \(report.timeZone)", of: report.hours, most: 24) { hour in
            [
                .text("Hour", "\(String(hour.hour, digits: 2)):00"),
                .bar(
                    "Received", Wording.count(hour.response.whole), share: Double(hour.response.whole) / Double(most)),
                .bar("Response rate", hour.response),
                .interval(hour.response),
            ]
        }
        let others = report.headline.counts.inferred
        let note =
            others > 0
            ? [
                Block.sentence(
                    "\(Wording.count(others, "delivery", "deliveries")) without a receipt are in no hour.", .note)
            ] : []
        return Page.Section("Hour of receipt", [.table(table)] + note)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("hours", report.hours) {
            Entry(
                keys: [.count("hour", $0.hour)],
                facts: [.count("received", $0.response.whole), .count("received_responded", $0.response.part)]
                    + $0.response.facts("response_rate"))
        }
    }
}
