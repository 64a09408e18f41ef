internal import ServiceRuntime

/// Commands from other threads to the I/O thread.
final class Mailbox: Sendable {
    enum Command: Sendable {
        case readBody(Connection, request: UInt64, limit: Int, then: @Sendable ([UInt8]) -> Void)
        case answer(Connection, request: UInt64, Response)
        /// Accept no more clients.
        case stopListening
        /// The shutdown deadline has passed: answer every waiting request now.
        case hurry
        /// Close everything, and return when no connection lingers any more.
        case end
    }

    private struct State {
        var commands: [Command] = []
        var isAsleep = false
        var isClosed = false
    }

    private let state = Lock(State())
    private let doorbell: Doorbell

    init(doorbell: Doorbell) {
        self.doorbell = doorbell
    }

    /// Wakes the I/O thread if it sleeps.
    func post(_ command: Command) {
        let mustRing = state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if mustRing { doorbell.ring() }
    }

    /// Takes all commands that came since the last call.
    func take() -> [Command] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// False if there is something to do first. From now until `wake`, a post rings the bell.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    func wake() {
        state.withLock { $0.isAsleep = false }
    }

    /// No thread reads it any more.
    func close() {
        let left = state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
        // Release what they hold here, outside the lock.
        _ = left
    }
}
