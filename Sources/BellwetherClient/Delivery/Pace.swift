/// When the next delivery may begin, known to all processes of the install: extensions live too short to remember it.
struct Pace: Codable, Hashable, Sendable {
    /// How many deliveries failed one after the other.
    var failures = 0
    /// In milliseconds of the device's clock.
    private(set) var notBefore: Int64?
    private var since: Int64?

    init() {}

    /// Longer than any wait is asked for: a day.
    static let longest: Int64 = 86_400_000

    /// Nothing for so many seconds from now on.
    mutating func wait(_ seconds: Double, from now: Int64) {
        since = now
        notBefore = now + Int64(min(max(seconds * 1000, 0), Double(Pace.longest)).rounded(.up))
    }

    /// How long to wait still, in milliseconds. A clock that was set back ends the wait: by it, the wait never began.
    func remaining(at now: Int64) -> Int64 {
        guard let notBefore, let since, now >= since else { return 0 }
        return max(0, notBefore - now)
    }
}
