/// The microseconds that one bucket stands for.
struct TimeBucket {
    let number: Int64

    private var exponent: Int64 { number / 8 + 2 }

    /// The least time in it.
    var start: Int64 { number < 8 ? number : (8 + number % 8) << (exponent - 3) }

    var width: Int64 { number < 8 ? 1 : 1 << (exponent - 3) }

    /// What is told for any time in it.
    var middle: Int64 { start + width / 2 }
}
