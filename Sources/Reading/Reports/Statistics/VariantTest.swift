/// Compares the variants of a campaign, each with each.
///
/// There is no verdict before the day has settled, nor on a pair whose smaller side is too small for the test. With
/// more than two variants, one of the many comparisons would often succeed by chance. So each p is raised as Holm's
/// method asks, and the intervals of the differences hold all together (Bonferroni).
package struct VariantTest: Hashable, Sendable {
    /// The one with the higher rate, and the other one.
    package var variant: String
    package var base: String
    package var rate: Double
    package var baseRate: Double
    /// Of the difference of the two rates.
    package var interval: ClosedRange<Double>
    package var verdict: Significance

    var difference: Double { rate - baseRate }

    /// A smaller side has at least so many.
    static let leastReceived: Int64 = 100
    /// Of more variants, those with the fewest receipts are not compared: the number of pairs grows with the square.
    static let mostVariants = 8

    package static func compare(_ variants: [(name: String, rate: Rate)], isSettled: Bool) -> [VariantTest] {
        // What is no share stands in the tables and is compared with nothing.
        let known = variants.filter { $0.rate.isShare }
            .sorted { ($1.rate.whole, ExactName($0.name)) < ($0.rate.whole, ExactName($1.name)) }.prefix(mostVariants)
            .sorted { $0.rate.value ?? 0 > $1.rate.value ?? 0 }
        let pairs = known.indices.flatMap { higher in
            known.indices.filter { $0 > higher }.map { (higher: known[higher], lower: known[$0]) }
        }
        let probabilities = pairs.map { pair in
            isSettled && min(pair.higher.rate.whole, pair.lower.rate.whole) >= leastReceived
                ? TwoProportions.probability(pair.higher.rate, against: pair.lower.rate) : nil
        }
        let corrected = holm(probabilities)
        return zip(pairs, corrected).compactMap { pair, p in
            guard let higher = pair.higher.rate.value, let lower = pair.lower.rate.value,
                let interval = Interval.ofDifference(
                    pair.higher.rate, from: pair.lower.rate, error: 0.05 / Double(pairs.count))
            else { return nil }
            let verdict: Significance =
                if let p { p < TwoProportions.significance ? .higher(p: p) : .likeChance(p: p) } else {
                    isSettled ? .smallSample : .unsettled
                }
            return VariantTest(
                variant: pair.higher.name, base: pair.lower.name, rate: higher, baseRate: lower, interval: interval,
                verdict: verdict)
        }
    }

    /// The least of m probabilities times m, the next one times m − 1, and so on, and none less than one before it. Nil
    /// stands for a comparison that is not made.
    static func holm(_ probabilities: [Double?]) -> [Double?] {
        let probabilities = probabilities.map { $0.flatMap { $0.isNaN ? nil : $0 } }
        let order = probabilities.indices.filter { probabilities[$0] != nil }
            .sorted { probabilities[$0] ?? 1 < probabilities[$1] ?? 1 }
        var corrected = probabilities
        var greatest = 0.0
        for (place, index) in order.enumerated() {
            greatest = max(greatest, min(1, (probabilities[index] ?? 1) * Double(order.count - place)))
            corrected[index] = greatest
        }
        return corrected
    }
}
