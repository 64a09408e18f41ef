internal import Values

/// A time zone, as far as daily rhythms need it. It has no daylight saving time, which would only shift people's habits
/// by an hour.
package struct Zone: Hashable, Sendable {
    package let name: String
    private let minutesEast: Int64

    init(_ name: String, minutesEast: Int64) { (self.name, self.minutesEast) = (name, minutesEast) }

    /// The day by the zone's calendar, counted from 1970.
    func day(of time: Timestamp) -> Int {
        Int((Double(local(time)) / Double(Span.day)).rounded(.down))
    }

    /// Midnight.
    func start(ofDay day: Int) -> Timestamp {
        Timestamp(microseconds: Int64(day) * Span.day - minutesEast * Span.minute)
    }

    /// From 0 to just under 24.
    func hour(of time: Timestamp) -> Double {
        Double(local(time) - Int64(day(of: time)) * Span.day) / Double(Span.hour)
    }

    /// 1 is Monday, 7 Sunday.
    static func weekday(ofDay day: Int) -> Int {
        // The first day of 1970 was a Thursday.
        ((day + 3) % 7 + 7) % 7 + 1
    }

    private func local(_ time: Timestamp) -> Int64 { time.microseconds + minutesEast * Span.minute }
}

/// Lengths of time in microseconds.
enum Span {
    static let second: Int64 = 1_000_000
    static let minute = 60 * second
    static let hour = 60 * minute
    static let day = 24 * hour
}

extension Timestamp {
    /// The time this many seconds later, in whole milliseconds like the times of phones.
    func after(seconds: Double) -> Timestamp {
        let exact = microseconds + Int64(seconds * 1_000_000)
        return Timestamp(microseconds: exact - exact % 1000)
    }
}
