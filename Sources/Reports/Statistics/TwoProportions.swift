internal import Glibc

/// Whether two shares differ by more than chance: the two-proportion z test with pooled variance, two-sided; where it is too
/// few for that, Fisher's exact test.
enum TwoProportions {
    /// Below this p the difference is called one; at the rates of a daily report one in a hundred is wrong by chance.
    static let significance = 0.01
    /// The normal approximation wants at least so many expected of either kind on either side.
    static let leastExpected = 10.0

    /// How `rate` stands to `base`.
    static func verdict(_ rate: Rate, against base: Rate) -> Verdict {
        guard rate.whole > 0, base.whole > 0, let share = rate.value, let baseShare = base.value else {
            return .smallSample
        }
        let pooled = Double(rate.part + base.part) / Double(rate.whole + base.whole)
        let smaller = Double(min(rate.whole, base.whole))
        // All or none on both sides differ in nothing, however many they are.
        if smaller >= leastExpected, pooled == 0 || pooled == 1 { return .likeChance(p: 1) }
        guard smaller * min(pooled, 1 - pooled) >= leastExpected else { return exactVerdict(rate, against: base) }
        let deviation = (pooled * (1 - pooled) * (1 / Double(rate.whole) + 1 / Double(base.whole))).squareRoot()
        let z = (share - baseShare) / deviation
        let p = erfc(abs(z) / 2.0.squareRoot())
        if p >= significance { return .likeChance(p: p) }
        return z > 0 ? .higher(p: p) : .lower(p: p)
    }

    /// Of few, only what is beyond doubt is said.
    private static func exactVerdict(_ rate: Rate, against base: Rate) -> Verdict {
        // Of the two outcomes the rarer one, so that there is little to add up.
        let isPartRarer = 2 * (rate.part + base.part) <= rate.whole + base.whole
        let (own, other) = isPartRarer ? (rate.part, base.part) : (rate.whole - rate.part, base.whole - base.part)
        let p = FisherTest.probability(own, of: rate.whole, and: other, of: base.whole)
        guard p < significance, let share = rate.value, let baseShare = base.value else { return .smallSample }
        return share > baseShare ? .higher(p: p) : .lower(p: p)
    }

    /// With none of `trials`, the share that is ruled out with 95 in 100 sure: 1 − 0.05^(1/n), about 3/n.
    static func bound(ofNoneIn trials: Int64) -> Double? {
        trials > 0 ? 1 - pow(0.05, 1 / Double(trials)) : nil
    }
}

/// Fisher's exact test, two-sided: how probable a table of two samples is, and all that are no more probable, if both come
/// from one.
enum FisherTest {
    static func probability(_ part: Int64, of whole: Int64, and otherPart: Int64, of otherWhole: Int64)
        -> Double
    {
        let all = part + otherPart
        /// Of `all`, so many in the first sample: as a logarithm, since the ways are many.
        func weight(_ part: Int64) -> Double { choices(part, of: whole) + choices(all - part, of: otherWhole) }
        let total = choices(all, of: whole + otherWhole)
        let seen = weight(part)
        var probability = 0.0
        for possible in max(0, all - otherWhole)...min(all, whole) {
            let weight = weight(possible)
            // Equal ones differ in their last digits.
            if weight <= seen + 1e-7 { probability += exp(weight - total) }
        }
        return min(probability, 1)
    }

    /// The logarithm of how many ways there are to choose so many.
    private static func choices(_ part: Int64, of whole: Int64) -> Double {
        lgamma(Double(whole) + 1) - lgamma(Double(part) + 1) - lgamma(Double(whole - part) + 1)
    }
}
