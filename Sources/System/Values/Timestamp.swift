/// A moment, to the microsecond, as microseconds since 1970-01-01T00:00:00Z. The only type for times in this project.
package struct Timestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The years allowed for events: 2000 to 9999, in UTC.
    package static let plausible =
        Timestamp(microseconds: 946_684_800_000_000)..<Timestamp(microseconds: 253_402_300_800_000_000)

    /// What to do with a number that was refused as epoch milliseconds, but is a moment of this century in another
    /// unit.
    package static func hint(forEpoch number: Double) -> String? {
        let century = 946_684_800.0..<4_102_444_800.0
        return [
            (unit: "seconds", inSecond: 1.0, mend: "multiply by 1000"),
            (unit: "microseconds", inSecond: 1e6, mend: "divide by 1000"),
            (unit: "nanoseconds", inSecond: 1e9, mend: "divide by 1000000"),
        ]
        .first { century.contains(number / $0.inSecond) }.map { "this looks like \($0.unit): \($0.mend)" }
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

    /// Microseconds from `right` to `left`, bounded by the greatest and smallest number. Times of events lie within a
    /// few thousand years, but a database may hold any.
    package static func - (left: Timestamp, right: Timestamp) -> Int64 {
        let (difference, isBeyond) = left.microseconds.subtractingReportingOverflow(right.microseconds)
        return isBeyond ? (right.microseconds < 0 ? .max : .min) : difference
    }

    package static func + (left: Timestamp, microseconds: Int64) -> Timestamp {
        let (sum, isBeyond) = left.microseconds.addingReportingOverflow(microseconds)
        return Timestamp(microseconds: isBeyond ? (microseconds < 0 ? .min : .max) : sum)
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC, always with six decimals: `2026-11-20T09:30:10.001000Z`.
    package var description: String {
        let (days, inDay) = microseconds.flooredDivision(by: 86_400_000_000)
        let date = CivilDate(daysSince1970: Int(days))
        let (seconds, fraction) = inDay.flooredDivision(by: 1_000_000)
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { String($0, digits: 2) }
        return "\(date)T\(parts.joined(separator: ":")).\(String(fraction, digits: 6))Z"
    }
}

/// A day of the Gregorian calendar, extended to all years.
package struct CivilDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Nil for a day that the calendar does not have.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), day >= 1, day <= CivilDate.length(ofMonth: month, year: year) else {
            return nil
        }
        (self.year, self.month, self.day) = (year, month, day)
    }

    // Counting years from March puts the leap day last, so that the length of the months before it is a linear formula;
    // 400 years, an era, are always 146,097 days.
    package init(daysSince1970 days: Int) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The day that many days later.
    package func advanced(by days: Int) -> CivilDate { CivilDate(daysSince1970: daysSince1970 + days) }

    package var description: String {
        "\(String(year, digits: 4))-\(String(month, digits: 2))-\(String(day, digits: 2))"
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension FixedWidthInteger {
    fileprivate func flooredDivision(by divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
