internal import Foundation

/// How long to wait after deliveries that failed: exponential, with full jitter, so that all phones that a server sent
/// away at once do not come back at once.
struct Backoff: Sendable {
    /// The ceiling after the first failure, in seconds. It doubles with each.
    var base: TimeInterval = 2
    var longest: TimeInterval = 600
    /// A number within bounds.
    var random: @Sendable (ClosedRange<TimeInterval>) -> TimeInterval = { TimeInterval.random(in: $0) }

    func ceiling(failures: Int) -> TimeInterval { min(longest, base * pow(2, Double(min(max(failures, 1), 30) - 1))) }

    /// - Parameter retryAfter: what the server asked for: it is never asked earlier.
    func delay(failures: Int, retryAfter: TimeInterval?) -> TimeInterval {
        let ceiling = ceiling(failures: failures)
        guard let retryAfter else { return random(0...ceiling) }
        return retryAfter + random(0...min(ceiling, 30))
    }
}

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
