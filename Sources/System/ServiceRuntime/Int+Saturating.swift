// Inlinable, since generic code is not specialised across our modules, and these run with each event.

extension FixedWidthInteger {
    /// The nearest integer, where `Int(value)` would end the process: the largest for infinity and values that are too
    /// large, the smallest likewise, and 0 for NaN. Use it for every number from outside.
    @inlinable package init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= Double(Self.max) {
            self = .max
        } else if value <= Double(Self.min) {
            self = .min
        } else {
            self = Self(value)
        }
    }

    /// The sum, or the greatest or smallest number if it is beyond them, where `+` would end the process.
    @inlinable package func addingSaturated(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, bounded in the same way.
    @inlinable package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .max : .min) : difference
    }
}
