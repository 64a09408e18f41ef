internal import Postgres
package import Telemetry

extension Headline {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Headline {
        let weekdays = [7, 14, 21, 28].map { scope.day.advanced(by: -$0) }
        let days = [scope.day, scope.day.advanced(by: -1)] + weekdays
        let rows = try connection.query(
            """
            SELECT day, \(sql: FunnelCounts.sums) FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day = ANY (\(days)) GROUP BY day
            """)
        var counts: [CivilDate: FunnelCounts] = [:]
        for row in rows { counts[try row.get(0)] = try FunnelCounts(row, from: 1) }
        return Headline(counts: counts, day: scope.day, sameWeekdays: weekdays)
    }

    /// A day beside the one before it and some others, from the counts of the days that had deliveries.
    package init(counts: [CivilDate: FunnelCounts], day: CivilDate, sameWeekdays: [CivilDate]) {
        let own = counts[day] ?? FunnelCounts()
        func comparison(with days: [CivilDate]) -> Comparison? {
            Comparison(
                of: own,
                with: days.compactMap { day in counts[day].map { (day: day, counts: $0) } }.filter {
                    $0.counts.delivered > 0
                })
        }
        self.init(
            counts: own, previousDay: comparison(with: [day.advanced(by: -1)]),
            sameWeekdays: comparison(with: sameWeekdays))
    }
}

extension Headline.Comparison {
    /// Nil without days to compare with.
    init?(of counts: FunnelCounts, with days: [(day: CivilDate, counts: FunnelCounts)]) {
        guard let delivered = Median.of(days.map(\.counts.delivered)) else { return nil }
        let pooled = days.reduce(Rate(0, of: 0)) { $0 + $1.counts.responseRate }
        self.init(
            days: days.map(\.day), delivered: delivered,
            responseRate: Median.of(days.compactMap(\.counts.responseRate.value)), pooled: pooled,
            receiptCoverage: Median.of(days.compactMap(\.counts.receiptCoverage.value)),
            verdict: TwoProportions.verdict(counts.responseRate, against: pooled))
    }
}
