internal import EventLog
internal import ServiceRuntime

/// A token bucket for each app that has a limit: one token an event.
///
/// An envelope passes while there is anything in the bucket and may leave it in debt, so that an envelope larger than the
/// burst passes too, later; the debt is paid before the next.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: Deadline
    }

    private let buckets = Lock<[Int32: Bucket]>([:])

    /// Nil when the events may pass, else the seconds after which to come again.
    func admit(_ events: Int, of app: Int32, under limit: RateLimit?, at now: Deadline = .now) -> Double? {
        guard let limit else { return nil }
        return buckets.withLock { buckets in
            var bucket = buckets[app] ?? Bucket(tokens: limit.burst, at: now)
            let seconds = Double(now.nanoseconds - bucket.at.nanoseconds) / 1e9
            bucket.tokens = min(limit.burst, bucket.tokens + max(0, seconds) * limit.eventsPerSecond)
            bucket.at = now
            defer { buckets[app] = bucket }
            guard bucket.tokens > 0 else { return (1 - bucket.tokens) / limit.eventsPerSecond }
            bucket.tokens -= Double(events)
            return nil
        }
    }
}
