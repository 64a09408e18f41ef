/// A part of a whole. Without a whole it has no value.
package struct Rate: Hashable, Sendable {
    package var part: Int64
    package var whole: Int64

    package init(_ part: Int64, of whole: Int64) { (self.part, self.whole) = (part, whole) }

    package var value: Double? { whole == 0 ? nil : Double(part) / Double(whole) }

    static func + (left: Rate, right: Rate) -> Rate { Rate(left.part + right.part, of: left.whole + right.whole) }

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

    /// The same of counts; a half is rounded up.
    static func of(_ counts: [Int64]) -> Int64? {
        guard !counts.isEmpty else { return nil }
        let sorted = counts.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        return low + (high - low + 1) / 2
    }
}
