package import Telemetry

/// The day in a line, and beside other days.
package struct Headline: Hashable, Sendable {
    package var counts: FunnelCounts
    /// Nil when nothing is known of the day before.
    package var previousDay: Comparison?
    /// With the same weekday of up to four weeks before; nil when none of them had a delivery.
    package var sameWeekdays: Comparison?

    package init(counts: FunnelCounts, previousDay: Comparison? = nil, sameWeekdays: Comparison? = nil) {
        (self.counts, self.previousDay, self.sameWeekdays) = (counts, previousDay, sameWeekdays)
    }

    package struct Comparison: Hashable, Sendable {
        /// What the days compared with are taken as.
        package enum Age: String, Hashable, Sendable {
            /// As they are known now.
            case now
            /// As they were reported at about the same time after their end: a day of some hours is held against days of
            /// as many, since what comes late comes late every day.
            case same
        }

        /// The days compared with that had deliveries, the latest first.
        package var days: [CivilDate]
        package var age = Age.now
        /// Their median.
        package var delivered: Int64
        /// The median of their response rates; nil when none has one.
        package var responseRate: Double?
        /// Their receipts together, which the test is made on.
        package var pooled: Rate
        /// The median of their receipt coverage.
        package var receiptCoverage: Double?
        package var verdict: Verdict

        package init(
            days: [CivilDate], delivered: Int64, responseRate: Double?, pooled: Rate, receiptCoverage: Double?,
            verdict: Verdict
        ) {
            (self.days, self.delivered, self.responseRate) = (days, delivered, responseRate)
            (self.pooled, self.receiptCoverage, self.verdict) = (pooled, receiptCoverage, verdict)
        }
    }
}

/// Whether two rates differ by more than chance makes them.
package enum Verdict: Hashable, Sendable {
    case higher(p: Double)
    case lower(p: Double)
    /// What chance alone would make.
    case likeChance(p: Double)
    /// Too few to say.
    case smallSample
    /// Late events still change one side, and the other has them all.
    case unsettled
    /// Those compared with differ too much among themselves: the test of all together and their median disagree.
    case divided
}
