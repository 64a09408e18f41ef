/// How long the queue has been at work, in milliseconds: what the age of an event is measured by.
///
/// Not the device's clock, which jumps: a phone that believes for a minute that it is 2040 must not throw away what
/// waits. Each step of the device's clock counts for a day at most, a step back for nothing. A phone that lay in a
/// drawer for a year has aged its events by a day, and sends them.
struct AgeClock: Codable, Hashable, Sendable {
    static let longestStep: Int64 = 86_400_000
    /// How often its reading is written down.
    static let interval: Int64 = 3_600_000

    /// The reading when it was last written down.
    private(set) var reading: Int64 = 0
    /// What the device's clock said then.
    private(set) var time: Int64?

    func reading(at now: Int64) -> Int64 {
        guard let time else { return reading }
        return reading + min(max(now.subtractingReportingOverflow(time).partialValue, 0), AgeClock.longestStep)
    }

    /// Whether it should be written down.
    func isDue(at now: Int64) -> Bool {
        guard let time else { return true }
        return now < time || now - time >= AgeClock.interval
    }

    /// Goes on from here. It is never behind what was seen in a record, should it have been lost itself.
    mutating func advance(to now: Int64, atLeast seen: Int64 = 0) {
        reading = max(reading(at: now), seen)
        time = now
    }
}
