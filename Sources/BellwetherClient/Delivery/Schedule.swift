internal import Foundation

/// Deliveries that a process begins by itself: some seconds after something was recorded, and again when waiting is over.
///
/// For an app. An extension lives for moments and flushes what it can before it ends.
final class Schedule: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Whether something was recorded since the delivery began.
        var isDue = false
        var hasEnded = false
    }

    private let courier: Courier
    /// How long something that was recorded waits for more, in seconds.
    private let delay: TimeInterval
    /// How long one delivery may take.
    private let budget: TimeInterval
    /// How long after one that could not do its work the next begins.
    private let rest: TimeInterval
    private let state = Guarded(State())

    init(_ courier: Courier, delay: TimeInterval = 3, budget: TimeInterval = 120, rest: TimeInterval = 30) {
        self.courier = courier
        self.delay = delay
        self.budget = budget
        self.rest = rest
    }

    deinit { end() }

    /// Something waits.
    func wake() { wake(after: delay) }

    /// No delivery begins any more by itself.
    func end() {
        let task = state.withLock { state in
            state.hasEnded = true
            return state.task
        }
        task?.cancel()
    }

    private func wake(after seconds: TimeInterval) {
        state.withLock { state in
            state.isDue = true
            guard state.task == nil, !state.hasEnded else { return }
            let (courier, budget) = (courier, budget)
            state.task = Task(priority: .utility) { [weak self] in
                try? await courier.clock.sleep(seconds)
                guard !Task.isCancelled, self?.begin() == true else { return }
                let result = await courier.deliver(within: budget)
                self?.goOn(after: result)
            }
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            state.isDue = false
            return !state.hasEnded
        }
    }

    private func goOn(after result: DeliveryResult) {
        let isDue = state.withLock { state in
            state.task = nil
            return state.isDue
        }
        switch result {
        case .delivered: if isDue { wake() }
        case .waiting(let date): wake(after: max(delay, date.timeIntervalSince(courier.clock.wall())))
        case .outOfTime, .unavailable: wake(after: max(delay, rest))
        case .keyRefused, .insecureServer: break
        }
    }
}
