internal import ServiceRuntime

/// How much the thread that serves all connections may decode itself: little for each app, and for all together not so
/// much that others wait.
///
/// Decoding a small envelope takes less time than passing it to another thread. An app that sends many of them waits in
/// the lane instead.
final class InlineBudget: Sendable {
    /// The time that can be used now; it refills over time.
    private struct Purse {
        var nanoseconds: Double
        var at: Deadline

        /// Refills it up to `now`.
        mutating func refill(share: Double, most: Double, at now: Deadline) {
            nanoseconds = min(most, nanoseconds + share * Double(max(0, now.nanoseconds - at.nanoseconds)))
            at = now
        }
    }

    private let purses: Lock<(ofApps: [Int32: Purse], ofAll: Purse)>
    private let most: Double
    private let shareOfOne: Double
    private let shareOfAll: Double
    private let clock: @Sendable () -> Deadline

    /// An app may use some milliseconds at once, and some share of the time.
    init(
        milliseconds: Double = 2, shareOfOne: Double = 0.125, shareOfAll: Double = 0.5,
        clock: @escaping @Sendable () -> Deadline = { .now }
    ) {
        most = milliseconds * 1e6
        (self.shareOfOne, self.shareOfAll, self.clock) = (shareOfOne, shareOfAll, clock)
        purses = Lock(([:], Purse(nanoseconds: milliseconds * 1e6, at: clock())))
    }

    /// Runs `work` here if there is time left, and counts its time; returns false if there is none.
    func spend(of app: Int32, on work: () -> Void) -> Bool {
        let began = clock()
        let isLeft = purses.withLock { purses in
            purses.ofAll.refill(share: shareOfAll, most: most, at: began)
            purses.ofApps[app, default: Purse(nanoseconds: most, at: began)]
                .refill(share: shareOfOne, most: most, at: began)
            return purses.ofAll.nanoseconds > 0 && (purses.ofApps[app]?.nanoseconds ?? 0) > 0
        }
        guard isLeft else { return false }
        work()
        let spent = Double(clock().nanoseconds - began.nanoseconds)
        purses.withLock { purses in
            purses.ofAll.nanoseconds -= spent
            purses.ofApps[app]?.nanoseconds -= spent
        }
        return true
    }
}
