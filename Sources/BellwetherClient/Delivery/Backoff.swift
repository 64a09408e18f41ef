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
