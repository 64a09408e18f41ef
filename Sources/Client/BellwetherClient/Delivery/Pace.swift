internal import Foundation

/// How long to wait after failed deliveries: exponential backoff with full jitter, so that phones that failed at the
/// same moment do not all return at the same moment.
struct Backoff: Sendable {
    /// The maximum after the first failure, in seconds. It doubles with each failure.
    var base: TimeInterval = 2
    var longest: TimeInterval = 600
    /// A number within bounds.
    var random: @Sendable (ClosedRange<TimeInterval>) -> TimeInterval = { TimeInterval.random(in: $0) }

    func ceiling(failures: Int) -> TimeInterval { min(longest, base * pow(2, Double(min(max(failures, 1), 30) - 1))) }

    /// - Parameter retryAfter: the wait that the server asked for; we never try earlier.
    func delay(failures: Int, retryAfter: TimeInterval?) -> TimeInterval {
        let ceiling = ceiling(failures: failures)
        guard let retryAfter else { return random(0...ceiling) }
        return retryAfter + random(0...min(ceiling, 30))
    }
}

/// When the next delivery may begin. All processes of the install share it, because extensions live too briefly to
/// remember it.
struct Pace: Codable, Hashable, Sendable {
    /// How many deliveries failed in a row, up to `mostFailures`.
    var failures = 0
    /// In milliseconds of the device's clock.
    private(set) var notBefore: Int64?
    private var since: Int64?

    init() {}

    /// The longest wait: a day.
    static let longest: Int64 = 86_400_000

    static let mostFailures = 1000

    var isPlausible: Bool {
        let times = [since, notBefore].compactMap(\.self)
        return (0...Pace.mostFailures).contains(failures) && times.allSatisfy(Moment.possible.contains)
            && (0...Pace.longest).contains((times.last ?? 0) - (times.first ?? 0))
    }

    /// Waits this many seconds, from now on. A longer wait stays: the server may have told it to another process.
    mutating func wait(_ seconds: Double, from now: Int64) {
        let wait = Int64(min(max(seconds * 1000, 0), Double(Pace.longest)).rounded(.up))
        guard wait > remaining(at: now) else { return }
        (since, notBefore) = (now, now + wait)
    }

    /// Forgets failures: network and server work, as a request shows that began at this time. A wait that began later
    /// stays.
    mutating func succeed(at began: Int64) {
        guard since ?? began <= began else { return }
        self = Pace()
    }

    /// The remaining wait in milliseconds. If the clock was set back to before the wait began, the wait ends.
    func remaining(at now: Int64) -> Int64 {
        guard let notBefore, let since, now >= since else { return 0 }
        return max(0, notBefore - now)
    }
}
