internal import Glibc

/// Whether two rates differ by more than chance.
package enum Significance: Hashable, Sendable {
    case higher(p: Double)
    case lower(p: Double)
    /// Chance alone can explain the difference.
    case likeChance(p: Double)
    /// Too few to say.
    case smallSample
    /// One side still changes with late events, and the other is complete.
    case unsettled
    /// The days compared with differ too much among themselves: the test of all together and their median disagree.
    case divided
    /// Receipt coverage differs so much that the rates are of different people.
    case otherCoverage(was: Double, now: Double)
    /// A part is greater than its whole, so events are missing, and nothing is known of how the others differ.
    case beyondWhole

    var isHigher: Bool { if case .higher = self { true } else { false } }
    var isLower: Bool { if case .lower = self { true } else { false } }

    /// What follows the two rates: `This is more than chance (p < .001).`
    package var sentence: String {
        switch self {
        case .higher(let p), .lower(let p): "This is more than chance (\(Wording.probability(p)))."
        case .likeChance(let p) where p < TwoProportions.significance:
            "Among so many comparisons, this may be chance (\(Wording.probability(p)))."
        case .likeChance(let p): "This is within chance (\(Wording.probability(p)))."
        case .smallSample: "The sample is too small to judge this."
        case .unsettled: "It is too early to judge this: receipts still arrive."
        case .divided: "These days differ too much among themselves to judge this."
        case .otherCoverage(let was, let now):
            "This cannot be judged: \(Wording.percent(now)) of deliveries have a receipt, and \(Wording.percent(was)) "
                + "had one there, so the rates are of different people."
        case .beyondWhole: "This cannot be judged: a rate is over 100 %, so some events of its base were lost."
        }
    }

    /// Its name in JSON.
    var word: String { test.word }
    /// 1, −1 or 0; nil where the test says nothing.
    package var sign: Int64? { test.sign }

    var facts: [Fact] { [Fact(name: "verdict", value: .verdict(self)), .number("p", test.p)] }

    private var test: (word: String, sign: Int64?, p: Double?) {
        switch self {
        case .higher(let p): ("higher", 1, p)
        case .lower(let p): ("lower", -1, p)
        case .likeChance(let p): ("like_chance", 0, p)
        case .smallSample: ("small_sample", nil, nil)
        case .unsettled: ("unsettled", nil, nil)
        case .divided: ("divided", nil, nil)
        case .otherCoverage: ("other_coverage", nil, nil)
        case .beyondWhole: ("beyond_whole", nil, nil)
        }
    }
}

/// Whether two shares differ by more than chance: the two-sided two-proportion z test with pooled variance, or Fisher's
/// exact test if there are too few for it.
package enum TwoProportions {
    /// A smaller p is called a difference. One comparison in a hundred is then wrong by chance.
    static let significance = 0.01
    /// The normal approximation needs at least so many expected of either kind on either side.
    static let leastExpected = 10.0

    /// How `rate` compares with `base`.
    package static func verdict(_ rate: Rate, against base: Rate) -> Significance {
        if rate.isBeyondWhole && rate.whole > 0 || base.isBeyondWhole && base.whole > 0 { return .beyondWhole }
        guard rate.isShare, base.isShare, let share = rate.value, let baseShare = base.value else {
            return .smallSample
        }
        guard let p = probability(rate, against: base) else { return exactVerdict(rate, against: base) }
        if p >= significance { return .likeChance(p: p) }
        return share > baseShare ? .higher(p: p) : .lower(p: p)
    }

    /// How probable so great a difference is if the two do not differ: by the z test; nil if there are too few for it,
    /// and for what is no share.
    static func probability(_ rate: Rate, against base: Rate) -> Double? {
        guard rate.isShare, base.isShare, let share = rate.value, let baseShare = base.value else { return nil }
        let pooled = Double(rate.part + base.part) / Double(rate.whole + base.whole)
        let smaller = Double(min(rate.whole, base.whole))
        // If it is all or none on both sides, they do not differ, however many there are.
        if smaller >= leastExpected, pooled == 0 || pooled == 1 { return 1 }
        guard smaller * min(pooled, 1 - pooled) >= leastExpected else { return nil }
        let deviation = (pooled * (1 - pooled) * (1 / Double(rate.whole) + 1 / Double(base.whole))).squareRoot()
        return erfc(abs((share - baseShare) / deviation) / 2.0.squareRoot())
    }

    /// With few, only a clear difference is reported.
    private static func exactVerdict(_ rate: Rate, against base: Rate) -> Significance {
        // The rarer outcome has fewer possible tables to add up.
        let isPartRarer = 2 * (rate.part + base.part) <= rate.whole + base.whole
        let (own, other) =
            isPartRarer
            ? (rate, base)
            : (Rate(rate.whole - rate.part, of: rate.whole), Rate(base.whole - base.part, of: base.whole))
        let p = FisherTest.probability(own, other)
        guard p < significance, let share = rate.value, let baseShare = base.value else { return .smallSample }
        return share > baseShare ? .higher(p: p) : .lower(p: p)
    }

    /// If none of `trials` succeeded, the true share is below this with 95 % confidence: 1 − 0.05^(1/n), about 3/n.
    static func bound(ofNoneIn trials: Int64) -> Double? {
        trials > 0 ? 1 - pow(0.05, 1 / Double(trials)) : nil
    }
}

/// Fisher's exact test, two-sided: the probability of this table of two samples, and of all that are no more probable,
/// if both samples have the same rate.
enum FisherTest {
    /// The tables that are added up. The test is for fewer than ten expected in the smaller sample, so that what lies
    /// beyond is less probable than the smallest number.
    private static let mostTables: Int64 = 10_000

    /// 1 for what is no share: such a table proves nothing.
    static func probability(_ rate: Rate, _ base: Rate) -> Double {
        guard rate.isShare, base.isShare else { return 1 }
        let (one, other) = rate.whole <= base.whole ? (rate, base) : (base, rate)
        let all = one.part + other.part
        /// The number of ways to have so many of `all` in the smaller sample, as a logarithm since it is large.
        func weight(_ part: Int64) -> Double { choices(part, of: one.whole) + choices(all - part, of: other.whole) }
        let total = choices(all, of: one.whole + other.whole)
        let seen = weight(one.part)
        let (least, most) = (max(0, all - other.whole), min(all, one.whole))
        var probability = 0.0
        for possible in least...min(most, least + mostTables) {
            let weight = weight(possible)
            // Equal weights differ in their last digits.
            if weight <= seen + 1e-7 { probability += exp(weight - total) }
        }
        return min(probability, 1)
    }

    /// The logarithm of the number of ways to choose so many.
    private static func choices(_ part: Int64, of whole: Int64) -> Double {
        lgamma(Double(whole) + 1) - lgamma(Double(part) + 1) - lgamma(Double(whole - part) + 1)
    }
}
