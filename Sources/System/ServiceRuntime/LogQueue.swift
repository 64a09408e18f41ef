/// Lines that wait to be written. Adding a line never waits: if there is no room, the line is counted and dropped.
final class LogQueue: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// Lines dropped since the last report.
        var dropped = 0
        var droppedInTotal = 0
        var isClosed = false
    }

    private let state = Lock(State())
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// How many lines were dropped in total.
    var total: Int { state.withLock { $0.droppedInTotal } }

    var isEmpty: Bool { state.withLock { $0.bytes.isEmpty } }

    func add(_ line: String) {
        state.withLockNotifying { state in
            guard state.bytes.count + line.utf8.count <= capacity else {
                state.dropped += 1
                state.droppedInTotal += 1
                return
            }
            state.bytes += line.utf8
        }
    }

    /// All waiting lines, and how many were dropped before. Returns at once if there is anything, else at the deadline.
    func next(until deadline: Deadline) -> (bytes: [UInt8], dropped: Int, isClosed: Bool) {
        _ = state.wait(until: deadline) { !$0.bytes.isEmpty || $0.isClosed ? true : nil }
        return state.withLock { state in
            defer { (state.bytes, state.dropped) = ([], 0) }
            return (state.bytes, state.dropped, state.isClosed)
        }
    }

    /// From now on, `next` no longer waits for more lines.
    func close() {
        state.withLockNotifying { $0.isClosed = true }
    }
}
