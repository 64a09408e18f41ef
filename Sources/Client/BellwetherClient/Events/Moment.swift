internal import Foundation

/// A time of the device's clock, in whole milliseconds since 1970, as an event or an envelope may carry it.
///
/// The service takes the years 2000 to 9999. If the clock shows an earlier time, as after the battery ran empty, thirty
/// years are added, both in events and in the time of sending. Their distance stays the same, and the service uses it
/// to find the true time.
struct Moment: Sendable, Hashable, Comparable {
    let milliseconds: Int64

    /// What any clock is taken to show: some million years, with which can be computed. A damaged file may tell of
    /// more.
    static let possible: ClosedRange<Int64> = -1_000_000_000_000_000_000...1_000_000_000_000_000_000

    private static let first: Int64 = 946_684_800_000
    private static let last: Int64 = 253_402_300_799_999

    init(_ date: Date) { self.init(milliseconds: date.milliseconds) }

    init(milliseconds: Int64) {
        let moved = milliseconds < Moment.first ? Moment.first + max(0, milliseconds) : milliseconds
        self.milliseconds = min(moved, Moment.last)
    }

    static func < (left: Moment, right: Moment) -> Bool { left.milliseconds < right.milliseconds }
}

extension Moment: CustomStringConvertible {
    /// RFC 3339 in UTC with three decimals: `2026-11-20T09:30:10.001Z`.
    var description: String {
        let (days, inDay) = (Int(milliseconds / 86_400_000), Int(milliseconds % 86_400_000))
        let (year, month, day) = Moment.civilDate(daysSince1970: days)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let (hour, minute, second) = (inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1000 % 60)
        return "\(date)T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(inDay % 1000, 3))Z"
    }

    // Counted from March, the leap day comes last, and four hundred years always have 146,097 days. Foundation's
    // formatters would work, but are slow to create.
    private static func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

extension Date {
    /// Whole milliseconds since 1970, for any value that a clock may have.
    var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded(.down)
        let (first, last) = (Moment.possible.lowerBound, Moment.possible.upperBound)
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, Double(first)), Double(last)))
    }
}

/// The clocks of the device: the wall clock, which people can set, and a monotonic clock.
struct DeviceClock: Sendable {
    var wall: @Sendable () -> Date
    /// Seconds since some start; never set back.
    var uptime: @Sendable () -> TimeInterval
    /// Returns after so many seconds, or throws when the task is cancelled.
    var sleep: @Sendable (TimeInterval) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 86_400 * 365) * 1e9))
    }

    static let system = DeviceClock(wall: { Date() }, uptime: { ProcessInfo.processInfo.systemUptime })

    /// The wall clock's time in the form that events carry.
    var now: Moment { Moment(wall()) }
}
