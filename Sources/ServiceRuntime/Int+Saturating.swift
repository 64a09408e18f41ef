extension FixedWidthInteger {
    /// The nearest integer that there is, where `Int(value)` would end the process: the largest for infinity and all that is
    /// too large, the smallest likewise, 0 for what is not a number. For every number that comes from outside.
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
