extension FixedWidthInteger {
    /// The nearest integer, where `Int(value)` would end the process: the largest for infinity and values that are too
    /// large, the smallest likewise, and 0 for NaN. Use it for every number from outside.
    package init(saturating value: Double) {
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
}
