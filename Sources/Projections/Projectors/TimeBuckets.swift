/// Times are counted in buckets: one for each microsecond below 8 µs, then eight for each doubling. So medians and percentiles can
/// be computed from sums. The middle of a bucket is off by a sixteenth at most, and those below 16 µs are exact.
enum TimeBuckets {
    static func bucket(ofMicroseconds time: Int64) -> Int16 {
        guard time >= 8 else { return Int16(time) }
        let exponent = 63 - time.leadingZeroBitCount
        return Int16((exponent - 2) * 8 + Int((time >> Int64(exponent - 3)) & 7))
    }

    /// The same in SQL, for the recount: the exponent is the number of the highest bit that is set.
    static func sql(_ microseconds: String) -> String {
        let exponent = "(64 - position(B'1' IN (\(microseconds))::bit(64)))"
        return """
            (CASE WHEN \(microseconds) < 8 THEN \(microseconds)
                ELSE (\(exponent) - 2) * 8 + (\(microseconds) >> (\(exponent) - 3) & 7) END)::smallint
            """
    }
}
