internal import ServiceRuntime

/// A part of a whole. Without a whole it has no value.
///
/// Events get lost, so nothing promises that a part is not greater than its whole: more stories may have finished than
/// started. Such a rate is shown as it is. Intervals and tests assume a share, so they have nothing to say about it.
package struct Rate: Hashable, Sendable {
    package var part: Int64
    package var whole: Int64

    package init(_ part: Int64, of whole: Int64) { (self.part, self.whole) = (part, whole) }

    package var value: Double? { whole > 0 ? Double(part) / Double(whole) : nil }

    /// Whether it is a share: the part is one of the whole, and both can be counted exactly, also added to those of
    /// another.
    package var isShare: Bool { whole > 0 && whole <= Self.most && (0...whole).contains(part) }
    private static let most: Int64 = 1 << 53

    /// Whether events must have been lost: the part is greater than the whole.
    package var isBeyondWhole: Bool { part > max(whole, 0) }

    static func + (left: Rate, right: Rate) -> Rate {
        Rate(left.part.addingSaturated(right.part), of: left.whole.addingSaturated(right.whole))
    }

    /// The facts of a rate with its interval.
    func facts(_ name: String) -> [Fact] {
        let interval = Interval.of(self)
        return [
            .number(name, value), .number("\(name)_low", interval?.lowerBound),
            .number("\(name)_high", interval?.upperBound),
        ]
    }

    /// The facts of a response rate: received deliveries, and those of them that responded.
    var asResponse: [Fact] {
        [.count("received", whole), .count("received_responded", part), .number("response_rate", value)]
    }

    /// The facts of receipt coverage: deliveries, and those of them that were received.
    var asCoverage: [Fact] {
        [.count("delivered", whole), .count("received", part), .number("receipt_coverage", value)]
    }
}

/// The middle of a few numbers.
enum Median {
    /// Of an even number of values, the mean of the two in the middle; nil of none.
    static func of(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The median of counts; a half is rounded up.
    static func of(_ counts: [Int64]) -> Int64? {
        guard !counts.isEmpty else { return nil }
        let sorted = counts.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        // The sum of two counts may need one bit more than a count has.
        return Int64(clamping: (Int128(low) + Int128(high) + 1) >> 1)
    }
}
