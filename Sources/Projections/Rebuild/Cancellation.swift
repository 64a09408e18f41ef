internal import Postgres
internal import ServiceRuntime

/// Ends a long piece of work before its time, from another thread.
package final class Cancellation: Sendable {
    private struct State {
        var isAsked = false
        /// What the work is running just now, on each of its connections.
        var running: [Int: CancelHandle] = [:]
        var next = 0
    }

    private let state = Lock(State())

    package init() {}

    /// What runs fails soon, and nothing further is begun. It stays so.
    package func ask() {
        let running = state.withLock { state in
            state.isAsked = true
            return state.running.values
        }
        for handle in running { handle.cancel() }
    }

    package var isAsked: Bool { state.withLock { $0.isAsked } }

    /// Throws when it was asked for.
    func check() throws(StepError) {
        if isAsked { throw .cancelled }
    }

    /// Runs `body`, whose statements on this connection are cancelled with the rest.
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
