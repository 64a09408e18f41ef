/// Lets a few lines of each kind through and counts the rest, so that no client can flood the log.
///
/// Lines are of one kind when the same place in the code writes them, so there are as many kinds as such places.
final class LogSampler: Sendable {
    /// The place in the code.
    struct Kind: Hashable, Sendable {
        let file: String
        let line: UInt
    }

    /// What the log owes its reader: so many lines of one kind were not written.
    struct LeftOut: Sendable {
        let level: Log.Level
        let message: String
        let count: Int
    }

    /// How many lines of one kind are written within one window, which begins with its first line.
    static let linesInWindow = 30
    static let window = 10.0

    private struct Window {
        let end: Deadline
        var written = 0
        /// Of the first line that was left out; `count` is how many there are.
        var leftOut: LeftOut?
    }

    private struct State {
        var windows: [Kind: Window] = [:]
        var total = 0
    }

    private let state = Lock(State())
    private let clock: @Sendable () -> Deadline

    init(clock: @escaping @Sendable () -> Deadline = { .now }) { self.clock = clock }

    /// How many lines were left out, all told.
    var total: Int { state.withLock { $0.total } }

    /// Whether a line may be written now, and what a window that ended has left out.
    func admit(
        _ kind: Kind, _ level: Log.Level, _ message: String, at time: Deadline? = nil
    ) -> (isWritten: Bool, before: LeftOut?) {
        let now = time ?? clock()
        return state.withLock { state in
            var window = state.windows[kind] ?? Window(end: now)
            var before: LeftOut?
            if window.end <= now {
                before = window.leftOut
                window = Window(end: Deadline(nanoseconds: now.nanoseconds + Int64(LogSampler.window * 1e9)))
            }
            defer { state.windows[kind] = window }
            guard window.written == LogSampler.linesInWindow else {
                window.written += 1
                return (true, before)
            }
            let first = window.leftOut ?? LeftOut(level: level, message: message, count: 0)
            window.leftOut = LeftOut(level: first.level, message: first.message, count: first.count + 1)
            state.total += 1
            return (false, before)
        }
    }

    /// What windows that have ended left out, once; with `all`, also those that have not.
    func settle(all: Bool, at time: Deadline? = nil) -> [LeftOut] {
        let now = time ?? clock()
        return state.withLock { state in
            let ended = state.windows.filter { all || $0.value.end <= now }
            for kind in ended.keys { state.windows[kind] = nil }
            return ended.values.compactMap(\.leftOut).sorted { $0.message < $1.message }
        }
    }
}
