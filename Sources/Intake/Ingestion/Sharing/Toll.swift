internal import Accounts
internal import ServiceRuntime

/// What one request has paid of its app's rate limit: something before it is unpacked, and more as it unpacks.
final class Toll: Sendable {
    private let limiter: RateLimiter
    private let app: Int32
    private let limit: RateLimit
    private let paid = Lock(0)

    /// Nil if the app has no limit.
    init?(_ limiter: RateLimiter, of access: Access) {
        guard let limit = access.rateLimit else { return nil }
        self.limiter = limiter
        (app, self.limit) = (access.app, limit)
    }

    /// Seconds until the app may try again, if its other requests have used up the allowance.
    var wait: Double? {
        limiter.wait(of: app, under: limit, besides: paid.withLock { $0 })
    }

    /// Raises the payment to that many tokens in all, which may leave the app in debt.
    func raise(to tokens: Int) {
        let more = paid.withLock { paid in
            defer { paid = max(paid, tokens) }
            return max(0, tokens - paid)
        }
        if more > 0 { limiter.take(more, of: app, under: limit) }
    }

    /// Gives everything back, for a request that was refused after all.
    func payBack() {
        let all = paid.withLock { paid in
            defer { paid = 0 }
            return paid
        }
        limiter.take(-all, of: app, under: limit)
    }
}
