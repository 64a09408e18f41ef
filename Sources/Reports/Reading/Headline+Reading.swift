internal import Postgres
package import Telemetry

extension Headline {
    static func read(
        _ scope: ReportScope, settling: Settling, on connection: inout Connection
    ) throws(PostgresError) -> Headline {
        let weekdays = [7, 14, 21, 28].map { scope.day.advanced(by: -$0) }
        let days = [scope.day, scope.day.advanced(by: -1)] + weekdays
        let rows = try connection.query(
            """
            SELECT day, \(sql: FunnelCounts.sums) FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day = ANY (\(days)) GROUP BY day
            """)
        var counts: [CivilDate: FunnelCounts] = [:]
        for row in rows { counts[try row.get(0)] = try FunnelCounts(row, from: 1) }
        guard settling.hoursSinceEnd >= 0 else { return Headline(counts: counts[scope.day] ?? FunnelCounts()) }
        return Headline(
            counts: counts, told: try told(days, scope, on: &connection), isSettled: settling.isSettled, day: scope.day,
            sameWeekdays: weekdays)
    }

    /// What was reported of days when they were about as old as this one is now: to the hour, or to a tenth of their age.
    private static func told(
        _ days: [CivilDate], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [CivilDate: FunnelCounts] {
        let rows = try connection.query(
            """
            SELECT DISTINCT ON (day) day, delivered, received, received_responded
            FROM (
                SELECT
                    r.day, r.delivered, r.received, r.received_responded, r.position,
                    extract(epoch FROM \(scope.now) - ((\(scope.day) + 1)::timestamp AT TIME ZONE \(scope.timeZone))) AS age,
                    extract(epoch FROM r.made_at - ((r.day + 1)::timestamp AT TIME ZONE \(scope.timeZone))) AS told_age
                FROM analytics.reports AS r
                WHERE r.app = \(scope.app) AND r.day = ANY (\(days)) AND r.day <> \(scope.day)
            ) AS reports
            WHERE told_age >= 0 AND abs(told_age - age) <= greatest(3600, age / 10)
            ORDER BY day, abs(told_age - age), position DESC
            """)
        var told: [CivilDate: FunnelCounts] = [:]
        for row in rows {
            var counts = FunnelCounts()
            (counts.delivered, counts.received) = (try row.get(1), try row.get(2))
            counts.receivedResponded = try row.get(3)
            told[try row.get(0)] = counts
        }
        return told
    }

    /// A day beside the one before it and some others, from the counts of the days that had deliveries; as they were told
    /// at the age that this day has, where it has yet to settle and all of them were.
    package init(
        counts: [CivilDate: FunnelCounts], told: [CivilDate: FunnelCounts] = [:], isSettled: Bool = true,
        day: CivilDate,
        sameWeekdays: [CivilDate]
    ) {
        let own = counts[day] ?? FunnelCounts()
        func comparison(with days: [CivilDate]) -> Comparison? {
            let present = days.filter { day in (counts[day]?.delivered ?? 0) > 0 }
            let isTold = !isSettled && !present.isEmpty && present.allSatisfy { day in (told[day]?.delivered ?? 0) > 0 }
            let source = isTold ? told : counts
            return Comparison(
                of: own, with: present.map { day in (day: day, counts: source[day] ?? FunnelCounts()) },
                age: isTold ? .same : .now, isSettled: isSettled)
        }
        self.init(
            counts: own, previousDay: comparison(with: [day.advanced(by: -1)]),
            sameWeekdays: comparison(with: sameWeekdays))
    }
}

extension Headline.Comparison {
    /// Nil without days to compare with.
    init?(
        of counts: FunnelCounts, with days: [(day: CivilDate, counts: FunnelCounts)], age: Age, isSettled: Bool
    ) {
        guard let delivered = Median.of(days.map(\.counts.delivered)) else { return nil }
        let pooled = days.reduce(Rate(0, of: 0)) { $0 + $1.counts.responseRate }
        let median = Median.of(days.compactMap(\.counts.responseRate.value))
        self.init(
            days: days.map(\.day), delivered: delivered, responseRate: median, pooled: pooled,
            receiptCoverage: Median.of(days.compactMap(\.counts.receiptCoverage.value)),
            verdict: age == .now && !isSettled
                ? .unsettled
                : TwoProportions.verdict(counts.responseRate, against: pooled)
                    .agreeing(with: counts.responseRate.value, against: median))
        self.age = age
    }
}

extension Verdict {
    /// The verdict on a pooled rate, if the rate that is shown beside it says the same.
    fileprivate func agreeing(with rate: Double?, against shown: Double?) -> Verdict {
        guard let rate, let shown else { return self }
        switch self {
        case .higher where rate <= shown, .lower where rate >= shown: return .divided
        default: return self
        }
    }
}
