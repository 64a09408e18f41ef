internal import Postgres
internal import Telemetry
internal import Values

/// The counts of the day, and how they compare with other days.
package struct Headline: Hashable, Sendable {
    package var counts = FunnelCounts()
    /// Nil if nothing is known of the day before.
    var previousDay: Comparison?
    /// With the same weekday in the four weeks before; nil if none of those days had a delivery.
    var sameWeekdays: Comparison?

    struct Comparison: Hashable, Sendable {
        /// Which numbers of the other days are taken.
        enum Age: String, Hashable, Sendable {
            /// The present ones.
            case now
            /// Those that were reported when the other days were about as old as this one is now. Some events come late on
            /// every day, so this compares a day that ended hours ago with days that had ended as many hours before.
            case same
        }

        /// The days compared with that had deliveries, the latest first.
        var days: [CivilDate]
        var age = Age.now
        /// The median of the days.
        var delivered: Int64
        /// The median of the days' response rates; nil if no day has one.
        var responseRate: Double?
        /// The receipts of all days together, for the test.
        var pooled: Rate
        /// The median of the days' receipt coverage.
        var receiptCoverage: Double?
        var verdict: Verdict
        /// Nil unless the report leads with engagement.
        var engagement: Engagement?

        /// The same of the engagement rate.
        struct Engagement: Hashable, Sendable {
            var rate: Double?
            var pooled: Rate
            var verdict: Verdict
        }
    }
}

extension Headline {
    static func read(_ scope: ReportScope, settling: Settling, on connection: inout Connection) throws(PostgresError)
        -> Headline
    {
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
            sameWeekdays: weekdays, leadsWithEngagement: scope.closingButtons != nil)
    }

    /// What was reported of days when they were about as old as this one is now, give or take an hour or a tenth of the age.
    private static func told(
        _ days: [CivilDate], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [CivilDate: FunnelCounts] {
        let rows = try connection.query(
            """
            SELECT DISTINCT ON (day) day, delivered, received, received_responded, received_responded - received_engaged
            FROM (
                SELECT
                    r.day, r.delivered, r.received, r.received_responded, r.received_engaged, r.position,
                    extract(epoch FROM \(scope.now) - ((\(scope.day) + 1)::timestamp AT TIME ZONE \(scope.timeZone))) AS age,
                    extract(epoch FROM r.made_at - ((r.day + 1)::timestamp AT TIME ZONE \(scope.timeZone))) AS told_age
                FROM analytics.reports AS r
                WHERE r.app = \(scope.app) AND r.day = ANY (\(days)) AND r.day <> \(scope.day)
                    -- With other buttons that close, engagement meant something else.
                    AND (\(scope.closingButtons) IS NULL OR r.closing_buttons = \(scope.closingButtons))
            ) AS reports
            WHERE told_age >= 0 AND abs(told_age - age) <= greatest(3600, age / 10)
            ORDER BY day, abs(told_age - age), position DESC
            """)
        var told: [CivilDate: FunnelCounts] = [:]
        for row in rows {
            told[try row.get(0)] = FunnelCounts(
                delivered: try row.get(1), received: try row.get(2), receivedResponded: try row.get(3),
                receivedClosed: try row.get(4))
        }
        return told
    }

    /// A day, the day before and some others, from the counts of the days that had deliveries. If the day has not settled,
    /// and all days of a comparison were reported at its age, those reports are what it is compared with.
    init(
        counts: [CivilDate: FunnelCounts], told: [CivilDate: FunnelCounts] = [:], isSettled: Bool = true,
        day: CivilDate, sameWeekdays: [CivilDate], leadsWithEngagement: Bool = false
    ) {
        let own = counts[day] ?? FunnelCounts()
        func comparison(with days: [CivilDate]) -> Comparison? {
            let present = days.filter { day in (counts[day]?.delivered ?? 0) > 0 }
            let isTold = !isSettled && !present.isEmpty && present.allSatisfy { day in (told[day]?.delivered ?? 0) > 0 }
            let source = isTold ? told : counts
            return Comparison(
                of: own, with: present.map { day in (day: day, counts: source[day] ?? FunnelCounts()) },
                age: isTold ? .same : .now, isSettled: isSettled, leadsWithEngagement: leadsWithEngagement)
        }
        self.init(
            counts: own, previousDay: comparison(with: [day.advanced(by: -1)]),
            sameWeekdays: comparison(with: sameWeekdays))
    }
}

extension Headline.Comparison {
    /// Nil without days to compare with.
    fileprivate init?(
        of counts: FunnelCounts, with days: [(day: CivilDate, counts: FunnelCounts)], age: Age, isSettled: Bool,
        leadsWithEngagement: Bool
    ) {
        guard let delivered = Median.of(days.map(\.counts.delivered)) else { return nil }
        func compare(_ rate: KeyPath<FunnelCounts, Rate>) -> (median: Double?, pooled: Rate, verdict: Verdict) {
            let rates = days.map { $0.counts[keyPath: rate] }
            let (pooled, median) = (rates.reduce(Rate(0, of: 0), +), Median.of(rates.compactMap(\.value)))
            let own = counts[keyPath: rate]
            let verdict =
                age == .now && !isSettled
                ? Verdict.unsettled
                : TwoProportions.verdict(own, against: pooled).agreeing(with: own.value, against: median)
            return (median, pooled, verdict)
        }
        let (response, engagement) = (compare(\.responseRate), compare(\.engagementRate))
        self.init(
            days: days.map(\.day), age: age, delivered: delivered, responseRate: response.median,
            pooled: response.pooled, receiptCoverage: Median.of(days.compactMap(\.counts.receiptCoverage.value)),
            verdict: response.verdict,
            engagement: leadsWithEngagement
                ? Engagement(rate: engagement.median, pooled: engagement.pooled, verdict: engagement.verdict) : nil)
    }
}

extension Headline.Comparison {
    mutating func eachVerdict(_ visit: (inout Verdict) -> Void) {
        visit(&verdict)
        if var engagement {
            visit(&engagement.verdict)
            self.engagement = engagement
        }
    }
}

extension Verdict {
    /// The verdict on a pooled rate, if the rate that is shown beside it points the same way.
    fileprivate func agreeing(with rate: Double?, against shown: Double?) -> Verdict {
        guard let rate, let shown else { return self }
        switch self {
        case .higher where rate <= shown, .lower where rate >= shown: return .divided
        default: return self
        }
    }
}
