/// The microseconds that one bucket stands for.
package struct TimeBucket {
    package let number: Int64

    private var exponent: Int64 { number / 8 + 2 }

    package init(number: Int64) { self.number = number }

    /// The least time in it.
    package var start: Int64 { number < 8 ? number : (8 + number % 8) << (exponent - 3) }

    package var width: Int64 { number < 8 ? 1 : 1 << (exponent - 3) }

    /// What is told for any time in it.
    package var middle: Int64 { start + width / 2 }
}
