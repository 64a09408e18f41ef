internal import Glibc

/// How far the true values may be from what was counted.
package enum Interval {
    /// Where the true rate lies with 95 % confidence: Wilson's score interval, which holds near 0 and 1 and for small
    /// samples, too. Nil without a base, and for what is no share.
    package static func of(_ rate: Rate, z: Double = quantile(ofError: 0.05)) -> ClosedRange<Double>? {
        guard rate.isShare, let share = rate.value else { return nil }
        let n = Double(rate.whole)
        let center = (share + z * z / (2 * n)) / (1 + z * z / n)
        let reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
        guard center.isFinite, reach.isFinite else { return nil }
        return min(max(center - reach, 0), share)...max(min(center + reach, 1), share)
    }

    /// Where the true difference `rate` − `base` lies, with an error of `error`: Newcombe's interval, made of Wilson's
    /// two.
    static func ofDifference(_ rate: Rate, from base: Rate, error: Double = 0.05) -> ClosedRange<Double>? {
        let z = quantile(ofError: error)
        guard let share = rate.value, let other = base.value, let own = of(rate, z: z), let theirs = of(base, z: z)
        else {
            return nil
        }
        func reach(_ first: Double, _ second: Double) -> Double { (first * first + second * second).squareRoot() }
        let difference = share - other
        let low = reach(share - own.lowerBound, theirs.upperBound - other)
        let high = reach(own.upperBound - share, other - theirs.lowerBound)
        guard low.isFinite, high.isFinite else { return nil }
        return (difference - low)...(difference + high)
    }

    /// How many standard deviations a normal variable exceeds, to either side, with this probability.
    package static func quantile(ofError error: Double) -> Double {
        var (low, high) = (0.0, 40.0)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            if erfc(middle / 2.0.squareRoot()) > error { low = middle } else { high = middle }
        }
        return low
    }
}
