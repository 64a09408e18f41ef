internal import Postgres
internal import ServiceRuntime

/// Cancels long work from another thread.
package final class Cancellation: Sendable {
    private struct State {
        var isAsked = false
        /// The statement that each connection of the work is running.
        var running: [Int: CancelHandle] = [:]
        var next = 0
    }

    private let state = Lock(State())

    package init() {}

    /// Cancels for good: running statements fail soon, and nothing new starts.
    package func ask() {
        let running = state.withLock { state in
            state.isAsked = true
            return state.running.values
        }
        for handle in running { handle.cancel() }
    }

    package var isAsked: Bool { state.withLock { $0.isAsked } }

    /// Throws if the work was cancelled.
    func check() throws(StepError) {
        if isAsked { throw .cancelled }
    }

    /// Runs `body`. Cancelling cancels its statements on this connection, too.
    func during<Result>(
        _ connection: inout Connection, _ body: (inout Connection) throws -> Result
    ) throws -> Result {
        try check()
        let handle = connection.cancelHandle()
        let place = state.withLock { state in
            state.next += 1
            state.running[state.next] = handle
            return state.next
        }
        defer { state.withLock { state in state.running[place] = nil } }
        do { return try body(&connection) } catch {
            try check()
            throw error
        }
    }
}
