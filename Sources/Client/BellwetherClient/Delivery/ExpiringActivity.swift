internal import Foundation

/// Work that should finish before the system suspends the process.
struct ExpiringActivity: Sendable {
    /// Works like `ProcessInfo.performExpiringActivity`: it returns at once, calls `block` with false on another
    /// thread, and keeps the process running until `block` returns. When the time is over, it calls `block` once more
    /// with true, on a third thread, and keeps the process running until that call returns, and no longer. If there is
    /// no time at all, it only calls `block` with true.
    typealias Begin = @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isOver: Bool) -> Void) -> Void

    /// Nil if the system does not suspend processes.
    let begin: Begin?

    private enum State {
        case awaited, begun, refused
    }

    /// Does some work within such an activity. Returns at once.
    ///
    /// - Parameters:
    ///   - reason: The reason that the system is given.
    ///   - work: Starts the work and returns soon. It calls its argument when all is done; the process runs until then.
    ///   - hurry: Called when the time is over, to stop the work.
    ///   - refused: Called instead of `work` if there is no time.
    func perform(
        _ reason: String, work: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void,
        hurry: @escaping @Sendable () -> Void, refused: @escaping @Sendable () -> Void
    ) {
        guard let begin else { return work {} }
        let state = Guarded(State.awaited)
        let group = DispatchGroup()
        begin(reason) { isOver in
            let (before, after) = state.withLock { state in
                let before = state
                if before == .awaited {
                    state = isOver ? .refused : .begun
                    if !isOver { group.enter() }
                }
                return (before, state)
            }
            switch (before, after) {
            case (.awaited, .begun): work { group.leave() }
            case (.awaited, _): refused()
            case (.begun, _) where isOver: hurry()
            default: break
            }
            // Wait even when the time is over: the system kills a process that is suspended while it holds the queue.
            group.wait()
        }
    }

    /// There was no time for the work: the system is about to suspend the process.
    struct Refusal: Error {}

    #if !canImport(UIKit)
    static let system = ExpiringActivity(begin: nil)
    #endif
}
