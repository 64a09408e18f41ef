/// The middle of a few numbers.
package enum Median {
    /// The mean of the two in the middle of an even number; nil of none.
    package static func of(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The same of counts, half a one rounded up.
    package static func of(_ counts: [Int64]) -> Int64? {
        guard !counts.isEmpty else { return nil }
        let sorted = counts.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        return low + (high - low + 1) / 2
    }
}
