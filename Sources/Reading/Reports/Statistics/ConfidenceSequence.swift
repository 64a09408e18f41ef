internal import Glibc

/// Where the true difference between the two arms of an experiment lies, on every night at once: with a confidence of
/// 95 %, all intervals that are ever read hold together, however often somebody looks and whenever they stop.
///
/// An interval for a single look does not: read on each of 28 nights, it calls a difference in one of four experiments
/// that have none. This is Robbins' confidence sequence from the normal mixture, in the asymptotic form of Waudby-Smith
/// et al. (2024). Its clock is what is known by then: N · q(1−q) · F/(1−F), where N installs of which the share q is
/// control have reached the goal with a share of F. In that clock, the difference behaves as a Brownian motion does:
/// the share of a fixed sample that has reached something by some time is a Brownian bridge, and divided by 1 − F it is
/// one.
///
/// The simulation in `ExperimentSimulationTests` shows that it holds.
package enum ConfidenceSequence {
    /// The sequence is narrowest, for what it promises, when so many of the installs have reached the goal.
    private static let narrowestAt = 0.05
    package static let error = 0.05

    /// The interval for `treated` − `control`, whose arms were drawn with a share of `controlShare`. Nil while there
    /// are too few to say: then the shares are not normal. `error` is the probability that any of all its intervals is
    /// wrong.
    package static func interval(
        treated: Rate, control: Rate, controlShare: Double, error: Double = error
    ) -> ClosedRange<Double>? {
        guard treated.isShare, control.isShare, let own = treated.value, let base = control.value,
            controlShare > 0, controlShare < 1
        else { return nil }
        let all = Double(treated.whole) + Double(control.whole)
        // Not quite nobody, and not quite everybody.
        let share = (Double(treated.part) + Double(control.part) + 1) / (all + 2)
        let smaller = min(controlShare, 1 - controlShare)
        guard all * smaller * min(share, 1 - share) >= TwoProportions.leastExpected else { return nil }
        let installs = all * controlShare * (1 - controlShare)
        let sigmas = boundary(known: installs * share / (1 - share), narrowest: installs * narrowestAt, error: error)
        let reach = sigmas * max(variance(treated, control), pooled(treated, control, share)).squareRoot()
        guard reach.isFinite else { return nil }
        return max(own - base - reach, -1)...min(own - base + reach, 1)
    }

    /// How many standard deviations a Brownian motion exceeds at some time with a probability of `error`, at the time
    /// `known`: √((1 + ρ/t) · ln((t + ρ) / (ρ · error²))).
    static func boundary(known: Double, narrowest: Double, error: Double) -> Double {
        let tail = -2 * log(error)
        // Where the boundary is least at `narrowest`, nearly.
        let rho = narrowest / (tail + log(1 + tail))
        return ((1 + rho / known) * (log((known + rho) / rho) + tail)).squareRoot()
    }

    /// Each arm by itself, with half an install more of either kind.
    private static func variance(_ treated: Rate, _ control: Rate) -> Double {
        [treated, control].reduce(0) { sum, arm in
            let share = (Double(arm.part) + 0.5) / (Double(arm.whole) + 1)
            return sum + share * (1 - share) / Double(arm.whole)
        }
    }

    /// As if the arms did not differ, where an arm with few would look more certain than it is.
    private static func pooled(_ treated: Rate, _ control: Rate, _ share: Double) -> Double {
        share * (1 - share) * (1 / Double(treated.whole) + 1 / Double(control.whole))
    }
}

/// Whether the sizes of two arms can be chance: Pearson's chi-squared test against the share by which they were drawn.
///
/// Who counts is settled when the experiment starts, so the sizes are the same on each night, but for events that
/// arrive late and installs that are erased: to look again is to look at the same. So one test of p < .001 holds for
/// all nights.
package enum SampleRatio {
    package static let significance = 0.001

    /// How probable sizes that far from the share are; nil without installs.
    package static func probability(control: Int64, treated: Int64, controlShare: Double) -> Double? {
        let all = Double(control) + Double(treated)
        guard control >= 0, treated >= 0, all > 0, controlShare > 0, controlShare < 1 else { return nil }
        let expected = all * controlShare
        // With one degree of freedom, chi-squared is the square of a normal variable.
        let deviation = abs(Double(control) - expected) / (expected * (1 - controlShare)).squareRoot()
        return erfc(deviation / 2.0.squareRoot())
    }
}
