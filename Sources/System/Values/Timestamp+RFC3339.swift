extension Timestamp {
    /// Reads an RFC 3339 time with its offset, such as `2026-11-20T09:30:10.001+07:00`.
    ///
    /// The date is followed by `T`, `t` or a space; a fraction of any length is cut to microseconds; a leap second
    /// counts as the second after it. Nil for anything else, including a time without offset.
    package init?(rfc3339 text: Span<UInt8>) {
        guard text.count >= 20,
            let year = text.number(at: 0, digits: 4), text[4] == UInt8(ascii: "-"),
            let month = text.number(at: 5, digits: 2), text[7] == UInt8(ascii: "-"),
            let day = text.number(at: 8, digits: 2),
            text[10] | 0x20 == UInt8(ascii: "t") || text[10] == UInt8(ascii: " "),
            let hour = text.number(at: 11, digits: 2), hour < 24, text[13] == UInt8(ascii: ":"),
            let minute = text.number(at: 14, digits: 2), minute < 60, text[16] == UInt8(ascii: ":"),
            let second = text.number(at: 17, digits: 2), second <= 60,
            let date = CivilDate(year: year, month: month, day: day),
            let (fraction, offsetAt) = text.fraction(at: 19),
            let offset = text.offset(at: offsetAt)
        else { return nil }
        let minutes = (date.daysSince1970 * 24 + hour) * 60 + minute - offset
        self.init(microseconds: (Int64(minutes) * 60 + Int64(second)) * 1_000_000 + fraction)
    }

    /// Reads an RFC 3339 time with its offset.
    package init?(rfc3339 text: String) {
        self.init(rfc3339: text.utf8.span)
    }

    /// Whole milliseconds since 1970; nil outside the years allowed for events.
    package init?(epochMilliseconds milliseconds: Int64) {
        guard (0..<Timestamp.plausible.upperBound.microseconds / 1000).contains(milliseconds) else { return nil }
        let time = Timestamp(microseconds: milliseconds * 1000)
        guard Timestamp.plausible.contains(time) else { return nil }
        self = time
    }

    /// Milliseconds since 1970 with a fraction; nil outside the years allowed for events.
    ///
    /// Rounded, not cut: a double near 1.7e12 has three decimals, but may be just beside the written ones.
    package init?(fractionalEpochMilliseconds milliseconds: Double) {
        let microseconds = (milliseconds * 1000).rounded()
        guard microseconds >= 0, microseconds < Double(Timestamp.plausible.upperBound.microseconds) else { return nil }
        let time = Timestamp(microseconds: Int64(microseconds))
        guard Timestamp.plausible.contains(time) else { return nil }
        self = time
    }
}

extension Span<UInt8> {
    fileprivate func number(at start: Int, digits: Int) -> Int? {
        guard start + digits <= count else { return nil }
        var number = 0
        for position in start..<start + digits {
            guard let digit = digit(at: position) else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    private func digit(at position: Int) -> Int? {
        let digit = self[position] &- UInt8(ascii: "0")
        return digit < 10 ? Int(digit) : nil
    }

    /// Microseconds of an optional fraction, and where it ends.
    fileprivate func fraction(at start: Int) -> (microseconds: Int64, end: Int)? {
        guard start < count, self[start] == UInt8(ascii: ".") else { return (0, start) }
        var (microseconds, weight, position): (Int64, Int64, Int) = (0, 100_000, start + 1)
        while position < count, let digit = digit(at: position) {
            microseconds += Int64(digit) * weight
            weight /= 10
            position += 1
        }
        return position > start + 1 ? (microseconds, position) : nil
    }

    /// Minutes east of UTC; the offset must be all that is left.
    fileprivate func offset(at start: Int) -> Int? {
        guard start < count else { return nil }
        if self[start] | 0x20 == UInt8(ascii: "z") {
            return start + 1 == count ? 0 : nil
        }
        guard start + 6 == count, self[start + 3] == UInt8(ascii: ":"),
            let hours = number(at: start + 1, digits: 2), hours < 24,
            let minutes = number(at: start + 4, digits: 2), minutes < 60
        else { return nil }
        switch self[start] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }
}
