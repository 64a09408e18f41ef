internal import Foundation

/// Lets one task through at a time, in order of arrival. Each task sets how long it waits.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: UUID, continuation: CheckedContinuation<Bool, Never>)] = []
        var left: Set<UUID> = []
    }

    private let state = Guarded(State())

    /// Returns true if it is this task's turn; the task must then call `give`. False if the time was over or the task
    /// was cancelled.
    func take(within seconds: TimeInterval, _ clock: DeviceClock) async -> Bool {
        if state.withLock({ takeIfFree(&$0) }) { return true }
        guard seconds > 0 else { return false }
        return await withTaskGroup(of: Bool?.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                try? await clock.sleep(seconds)
                return nil
            }
            var isOurs = false
            for await turn in group {
                isOurs = isOurs || turn == true
                group.cancelAll()
            }
            return isOurs
        }
    }

    /// Passes the turn to the next task.
    func give() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }

    private func takeIfFree(_ state: inout State) -> Bool {
        defer { state.isTaken = true }
        return !state.isTaken
    }

    private func wait() async -> Bool {
        let id = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.left.remove(id) != nil { return false }
                    if takeIfFree(&state) { return true }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: UUID) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                // The task does not wait yet, or already has its turn.
                state.left.insert(id)
                return nil
            }
            return state.waiting.remove(at: index).continuation
        }
        continuation?.resume(returning: false)
    }
}
