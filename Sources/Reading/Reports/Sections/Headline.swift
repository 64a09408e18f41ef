internal import Postgres
internal import Telemetry
internal import Values

/// The counts of the day, and how they compare with other days.
package struct Headline: Hashable, Sendable {
    package var counts = FunnelCounts()
    /// With the day or week before; nil if nothing is known of it.
    var previous: Comparison?
    /// With the same weekday in the four weeks before, or with those weeks; nil if none of them had a delivery.
    var usual: Comparison?

    struct Comparison: Hashable, Sendable {
        /// Which numbers of the other days are taken.
        enum Age: String, Hashable, Sendable {
            /// The present ones.
            case now
            /// Those that were reported when the other days were about as old as this one is now. Some events come late
            /// on every day, so this compares a day that ended hours ago with days that had ended as many hours before.
            case same
        }

        /// The days compared with that had deliveries, the latest first.
        var days: [CivilDate]
        /// Whether they stand for the weeks that begin on them.
        var areWeeks = false
        var age = Age.now
        /// The median of the days.
        var delivered: Int64
        /// The median of the days' response rates; nil if no day has one.
        var responseRate: Double?
        /// The receipts of all days together, for the test.
        var pooled: Rate
        /// The median of the days' receipt coverage.
        var receiptCoverage: Double?
        var verdict: Significance
        /// Nil unless the report leads with engagement.
        var engagement: Engagement?

        /// The engagement rate, beside its usual value.
        struct Engagement: Hashable, Sendable {
            var rate: Double?
            var pooled: Rate
            var verdict: Significance
        }
    }
}

extension Headline {
    /// From the day or week and those before it.
    static func read(
        _ scope: ReportScope, _ trend: [TrendPoint], settling: Settling, on connection: inout Connection
    ) throws(PostgresError) -> Headline {
        let step = scope.period.length
        let others = [7, 14, 21, 28].map { scope.firstDay.advanced(by: -$0) }
        let counts = Dictionary(trend.map { ($0.day, $0.counts) }) { first, _ in first }
        guard settling.hoursSinceEnd >= 0 else { return Headline(counts: counts[scope.firstDay] ?? FunnelCounts()) }
        // Reports of weeks are not kept.
        let told =
            step > 1
            ? [] : try ToldCounts.read([scope.day.advanced(by: -1)] + others, scope, of: .days, on: &connection)
        return Headline(
            counts: counts, told: Dictionary(told.map { ($0.day, $0.counts) }) { first, _ in first },
            isSettled: settling.isSettled, day: scope.firstDay, step: step, others: others,
            leadsWithEngagement: scope.closingButtons != nil)
    }

    /// A day, the day before and the same weekdays, from the counts of the days that had deliveries; or a week, the
    /// week before and some others, by their Mondays. If the day has not settled, and all days of a comparison were
    /// reported at its age, those reports are what it is compared with.
    init(
        counts: [CivilDate: FunnelCounts], told: [CivilDate: FunnelCounts] = [:], isSettled: Bool = true,
        day: CivilDate, step: Int = 1, others: [CivilDate], leadsWithEngagement: Bool = false
    ) {
        let own = counts[day] ?? FunnelCounts()
        func comparison(with days: [CivilDate]) -> Comparison? {
            let present = days.filter { day in (counts[day]?.delivered ?? 0) > 0 }
            let isTold = !isSettled && !present.isEmpty && present.allSatisfy { day in (told[day]?.delivered ?? 0) > 0 }
            let source = isTold ? told : counts
            return Comparison(
                of: own, with: present.map { day in (day: day, counts: source[day] ?? FunnelCounts()) },
                age: isTold ? .same : .now, areWeeks: step > 1, isSettled: isSettled,
                leadsWithEngagement: leadsWithEngagement)
        }
        self.init(counts: own, previous: comparison(with: [day.advanced(by: -step)]), usual: comparison(with: others))
    }
}

extension Headline.Comparison {
    /// Nil without days to compare with.
    init?(
        of counts: FunnelCounts, with days: [(day: CivilDate, counts: FunnelCounts)], age: Age, areWeeks: Bool,
        isSettled: Bool, leadsWithEngagement: Bool
    ) {
        guard let delivered = Median.of(days.map(\.counts.delivered)) else { return nil }
        let coverage = Median.of(days.compactMap(\.counts.receiptCoverage.value))
        func compare(_ rate: KeyPath<FunnelCounts, Rate>) -> (median: Double?, pooled: Rate, verdict: Significance) {
            let rates = days.map { $0.counts[keyPath: rate] }
            let (pooled, median) = (rates.reduce(Rate(0, of: 0), +), Median.of(rates.compactMap(\.value)))
            let own = counts[keyPath: rate]
            let verdict =
                age == .now && !isSettled
                ? Significance.unsettled
                : TwoProportions.verdict(own, against: pooled).agreeing(with: own.value, against: median)
                    .comparing(coverage: counts.receiptCoverage.value, with: coverage)
            return (median, pooled, verdict)
        }
        let (response, engagement) = (compare(\.responseRate), compare(\.engagementRate))
        self.init(
            days: days.map(\.day), areWeeks: areWeeks, age: age, delivered: delivered, responseRate: response.median,
            pooled: response.pooled, receiptCoverage: coverage, verdict: response.verdict,
            engagement: leadsWithEngagement
                ? Engagement(rate: engagement.median, pooled: engagement.pooled, verdict: engagement.verdict) : nil)
    }
}

extension Headline.Comparison {
    /// The rate that the report leads with, and its verdict.
    var leading: (rate: Double?, verdict: Significance) {
        engagement.map { ($0.rate, $0.verdict) } ?? (responseRate, verdict)
    }

    /// `Friday 13 November`, or `a usual Friday` if there are several; of weeks, `a usual week`.
    var name: String {
        guard let first = days.first else { return "the same weekday" }
        guard !areWeeks else { return days.count == 1 ? "the week of \(Wording.short(first))" : "a usual week" }
        return days.count == 1 ? Wording.short(first) : "a usual \(Wording.weekday(first))"
    }

    mutating func eachVerdict(_ visit: (inout Significance) -> Void) {
        visit(&verdict)
        if var engagement {
            visit(&engagement.verdict)
            self.engagement = engagement
        }
    }
}

extension Significance {
    /// The verdict on a pooled rate, if the rate that is shown beside it points the same way.
    fileprivate func agreeing(with rate: Double?, against shown: Double?) -> Significance {
        guard let rate, let shown else { return self }
        switch self {
        case .higher where rate <= shown, .lower where rate >= shown: return .divided
        default: return self
        }
    }

    /// Rates of receipts that arrived on such different terms are rates of different people.
    package func comparing(coverage: Double?, with base: Double?) -> Significance {
        guard let coverage, let base, abs(coverage - base) >= 0.02 else { return self }
        return .otherCoverage(was: base, now: coverage)
    }
}
