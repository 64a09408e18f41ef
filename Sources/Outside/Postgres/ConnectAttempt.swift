internal import CLibPQ
internal import Glibc
internal import ServiceRuntime

/// An attempt to connect that its caller gives up after a while.
///
/// libpq asks the system for the addresses of a host by a call that knows no deadline: with a name server that does not
/// answer it takes half a minute, or longer. A thread of its own waits for it, so that no worker misses the moment to
/// answer or to stop. An attempt that was given up ends by itself, and closes what it opened.
final class ConnectAttempt: Sendable {
    /// SAFETY: the thread that takes a connection out of the state below is the only one that has it.
    @safe private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    private enum State {
        case underWay
        case done(Handle)
        /// Taken, or given up.
        case over
    }

    private let state = Lock(State.underWay)

    /// Attempts that were given up and have not ended. Each one has a thread.
    private static let lost = Lock(0)
    private static let mostLost = 16

    /// Connects; nil if there is no memory for it. `connect` may take for ever.
    static func run(
        by deadline: Deadline, _ connect: @escaping @Sendable () -> OpaquePointer?
    ) throws(PostgresError) -> OpaquePointer? {
        let mayBegin = lost.wait(until: deadline) { lost in lost < mostLost ? true : nil }
        guard mayBegin == true else { throw slow }
        let attempt = ConnectAttempt()
        _ = Worker(name: "connect") { attempt.finish(unsafe Handle(pointer: connect())) }
        guard let handle = attempt.take(by: deadline) else { throw slow }
        return unsafe handle.pointer
    }

    private static let slow = PostgresError.connection(
        "the server did not accept the connection in time. "
            + "If its host is given by name, see whether the name servers of this machine answer"
    )

    private func take(by deadline: Deadline) -> Handle? {
        let done = state.wait(until: deadline) { state in Self.taken(&state) }
        if let done { return done }
        return state.withLock { state in
            // It may just have come.
            if let done = Self.taken(&state) { return done }
            state = .over
            Self.lost.withLock { $0 += 1 }
            return nil
        }
    }

    private static func taken(_ state: inout State) -> Handle? {
        guard case .done(let handle) = state else { return nil }
        state = .over
        return handle
    }

    private func finish(_ handle: Handle) {
        let isLost = state.withLockNotifying { state in
            if case .over = state { return true }
            state = .done(handle)
            return false
        }
        guard isLost else { return }
        unsafe PQfinish(handle.pointer)
        Self.lost.withLockNotifying { $0 -= 1 }
    }
}
