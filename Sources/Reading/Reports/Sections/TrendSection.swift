internal import Postgres
internal import Values

/// A day or week of the last ones, with what is known of it now.
struct TrendPoint: Hashable, Sendable {
    /// The day, or the Monday of the week.
    var day: CivilDate
    var counts: FunnelCounts
    /// Whether what is still to come of it makes no difference worth mentioning.
    var isSettled: Bool

    /// Those that end with the report's. Days and weeks without deliveries have zeros.
    static func read(_ scope: ReportScope, settling: Settling, on connection: inout Connection) throws(PostgresError)
        -> [TrendPoint]
    {
        let step = scope.period.length
        let number = TrendSection.number(of: scope.period)
        let starts = (0...number).map { scope.firstDay.advanced(by: step * ($0 - number)) }
        let rows = try connection.query(
            """
            SELECT (day - \(starts[0])) / \(Int32(step)), min(day), \(sql: FunnelCounts.sums)
                FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day BETWEEN \(starts[0]) AND \(scope.day) GROUP BY 1 ORDER BY 1
            """)
        var counts: [Int: FunnelCounts] = [:]
        for (index, row) in rows.enumerated() {
            let place = Int(try row.get(0, as: Int32.self))
            // An app's first week has fewer days than the others, and would look like a bad one.
            if index == 0, place < number, try row.get(1, as: CivilDate.self) > starts[place] { continue }
            counts[place] = try FunnelCounts(row, from: 2)
        }
        return starts.enumerated().map { place, start in
            let age = settling.hoursSinceEnd + 24 * step * (number - place)
            return TrendPoint(
                day: start, counts: counts[place] ?? FunnelCounts(), isSettled: age >= settling.hoursToSettle)
        }
    }
}

/// The main figures of the last four weeks day by day, or of the last eight week by week. `HeadlineSection` reads them,
/// since it compares the same days.
enum TrendSection: ReportSection {
    static func number(of period: Period) -> Int {
        switch period {
        case .day: 28
        case .week: 8
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        let days = report.trend.suffix(number(of: report.period)).drop { $0.counts.delivered == 0 }
        let word = report.period.word
        guard days.count(where: { $0.counts.delivered > 0 }) > 1 else { return nil }
        func chart(_ title: String, _ unit: Chart.Unit, _ value: (FunnelCounts) -> Double?) -> Chart {
            Chart(
                title: title, unit: unit,
                points: days.map { .init(day: $0.day, value: value($0.counts), isOpen: !$0.isSettled) },
                step: report.period.length)
        }
        let unsettled = days.reversed().prefix { !$0.isSettled }.count
        let trend = Trend(
            "\(Wording.count(Int64(days.count), word, "\(word)s")) up to \(Wording.brief(report.day))",
            [chart("Deliveries", .count) { Double($0.delivered) }]
                + (report.leadsWithEngagement ? [chart("Engagement rate", .share, \.engagementRate.value)] : [])
                + [
                    chart("Response rate", .share, \.responseRate.value),
                    chart("Receipt coverage", .share, \.receiptCoverage.value),
                ])
        let note =
            unsettled == 0
            ? []
            : [
                Block.sentence(
                    "\(unsettled == 1 ? "The last \(word) has" : "The last \(unsettled) \(word)s have") not settled: "
                        + "receipts still arrive, so "
                        + "counts and receipt coverage will rise, and response will usually fall.", .note)
            ]
        return Page.Section(title(of: report.period), [.trend(trend)] + note)
    }

    private static func title(of period: Period) -> String {
        switch period {
        case .day: "The last four weeks"
        case .week: "The last eight weeks"
        }
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("trend", report.trend.suffix(number(of: report.period))) { day in
            Entry(
                keys: [.text("day", day.day.description)],
                facts: [
                    .count("delivered", day.counts.delivered), .count("received", day.counts.received),
                    .count("received_responded", day.counts.receivedResponded),
                    .count("received_engaged", day.counts.receivedEngaged),
                    .number("response_rate", day.counts.responseRate.value),
                    .number("engagement_rate", day.counts.engagementRate.value),
                    .number("receipt_coverage", day.counts.receiptCoverage.value), .flag("settled", day.isSettled),
                ])
        }
    }
}
