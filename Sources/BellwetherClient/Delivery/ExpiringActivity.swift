internal import Foundation

/// Work that a system which suspends processes lets one end before.
struct ExpiringActivity: Sendable {
    /// As `ProcessInfo.performExpiringActivity` does it: returns at once and calls `block` from another thread, with false,
    /// until whose return the process goes on. When the time for it is over, calls it once more, with true, from yet
    /// another thread, until whose return it goes on, and no longer. Where there is no time at all, only with true.
    typealias Begin = @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isOver: Bool) -> Void) -> Void

    /// Nothing, where no process is suspended.
    let begin: Begin?

    private enum State {
        case awaited, begun, refused
    }

    /// Does some work within such an activity. Returns at once.
    ///
    /// - Parameters:
    ///   - reason: What the system is told.
    ///   - work: Begins it, and returns soon; calls its argument when all is done. The process goes on until then.
    ///   - hurry: The time is over: what was begun should end.
    ///   - refused: There is no time, so that the work never begins.
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
            // Also when the time is over: whoever is suspended with the queue in hand is killed.
            group.wait()
        }
    }

    /// There was no time for it: the system is about to suspend the process.
    struct Refusal: Error {}

    #if !canImport(UIKit) || os(watchOS)
    static let system = ExpiringActivity(begin: nil)
    #endif
}
