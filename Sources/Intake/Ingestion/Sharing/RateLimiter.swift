internal import Accounts
internal import ServiceRuntime

/// A token bucket for each app with a limit.
///
/// An envelope costs the number of its events, or one for each 4 KiB begun of its unpacked bytes, or one, whichever is
/// the most. As long as the bucket has any tokens, a request passes and may leave the bucket in debt, so that an
/// envelope larger than the burst passes, too. The debt is paid before the next request.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: Deadline
    }

    private let buckets = Lock<[Int32: Bucket]>([:])

    /// The cost of that many bytes.
    static func tokens(forBytes bytes: Int) -> Int { max(1, (bytes + 4095) / 4096) }

    /// Seconds until an app in debt may try again; nil if it is not in debt. `paid` is what this request has already
    /// paid.
    func wait(of app: Int32, under limit: RateLimit?, besides paid: Int = 0, at now: Deadline = .now) -> Double? {
        guard let limit else { return nil }
        return buckets.withLock { buckets in
            let tokens = Self.refill(&buckets[app], limit, now) + Double(paid)
            return tokens > 0 ? nil : (1 - tokens) / limit.eventsPerSecond
        }
    }

    /// How many seconds the app of this key has to wait; nil if it need not.
    func wait(of access: Access) -> Double? { wait(of: access.app, under: access.rateLimit) }

    /// Takes tokens without a check. A negative number gives them back.
    func take(_ tokens: Int, of app: Int32, under limit: RateLimit?, at now: Deadline = .now) {
        guard let limit else { return }
        buckets.withLock { buckets in
            let left = Self.refill(&buckets[app], limit, now)
            buckets[app]?.tokens = min(limit.burst, left - Double(tokens))
        }
    }

    /// Refills a bucket up to `now`.
    private static func refill(_ bucket: inout Bucket?, _ limit: RateLimit, _ now: Deadline) -> Double {
        var filled = bucket ?? Bucket(tokens: limit.burst, at: now)
        let seconds = Double(now.nanoseconds - filled.at.nanoseconds) / 1e9
        filled.tokens = min(limit.burst, filled.tokens + max(0, seconds) * limit.eventsPerSecond)
        filled.at = now
        bucket = filled
        return filled.tokens
    }
}
