internal import Accounts
internal import ServiceRuntime

/// A bucket of tokens for each app that has a limit.
///
/// An envelope counts as its events, as the 4 KiB that it has begun unpacked, or as one, whichever is the most. Who comes
/// while there is anything in the bucket may leave it in debt, so that an envelope larger than the burst passes too; the debt
/// is paid before the next.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: Deadline
    }

    private let buckets = Lock<[Int32: Bucket]>([:])

    /// What so many bytes count as.
    static func tokens(forBytes bytes: Int) -> Int { max(1, (bytes + 4095) / 4096) }

    /// The seconds after which to come again, for an app that is in debt; `paid` is what the one who asks has put into it.
    func wait(of app: Int32, under limit: RateLimit?, besides paid: Int = 0, at now: Deadline = .now) -> Double? {
        guard let limit else { return nil }
        return buckets.withLock { buckets in
            let tokens = Self.refill(&buckets[app], limit, now) + Double(paid)
            return tokens > 0 ? nil : (1 - tokens) / limit.eventsPerSecond
        }
    }

    /// The same of the app whose key came along.
    func wait(of access: Access) -> Double? { wait(of: access.app, under: access.rateLimit) }

    /// Takes so many tokens, without asking; gives them back where they are below 0.
    func take(_ tokens: Int, of app: Int32, under limit: RateLimit?, at now: Deadline = .now) {
        guard let limit else { return }
        buckets.withLock { buckets in
            let left = Self.refill(&buckets[app], limit, now)
            buckets[app]?.tokens = min(limit.burst, left - Double(tokens))
        }
    }

    /// Brings a bucket up to the present.
    private static func refill(_ bucket: inout Bucket?, _ limit: RateLimit, _ now: Deadline) -> Double {
        var filled = bucket ?? Bucket(tokens: limit.burst, at: now)
        let seconds = Double(now.nanoseconds - filled.at.nanoseconds) / 1e9
        filled.tokens = min(limit.burst, filled.tokens + max(0, seconds) * limit.eventsPerSecond)
        filled.at = now
        bucket = filled
        return filled.tokens
    }
}
