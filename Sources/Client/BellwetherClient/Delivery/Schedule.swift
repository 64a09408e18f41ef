internal import Foundation

/// Starts deliveries automatically: some seconds after an event was recorded, and again when a wait is over.
///
/// Only for apps. An extension lives only briefly, and flushes what it can before it ends.
final class Schedule: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Whether an event was recorded since the delivery began.
        var isDue = false
        var hasEnded = false
    }

    private let courier: Courier
    /// How long a recorded event waits for more events, in seconds.
    private let delay: TimeInterval
    /// How long one delivery may take.
    private let budget: TimeInterval
    /// The pause after a delivery that could not read the queue, in seconds.
    private let rest: TimeInterval
    private let state = Guarded(State())

    init(_ courier: Courier, delay: TimeInterval = 3, budget: TimeInterval = 120, rest: TimeInterval = 30) {
        self.courier = courier
        self.delay = delay
        self.budget = budget
        self.rest = rest
    }

    /// The interval that a developer gave, within an hour.
    static func sensible(_ interval: TimeInterval) -> TimeInterval {
        interval.isFinite ? min(max(interval, 0), 3600) : 3
    }

    deinit { end() }

    /// Call it when an event waits.
    func wake() { wake(after: delay) }

    /// Stops automatic deliveries.
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
