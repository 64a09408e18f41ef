/// Lets a few lines of each kind through and counts the rest, so that no client can flood the log.
///
/// All lines that one place in the code writes are of one kind, so there are as many kinds as such places.
final class LogSampler: Sendable {
    /// The place in the code.
    struct Kind: Hashable, Sendable {
        let file: String
        let line: UInt
    }

    /// A count that the log must report: this many lines of one kind were not written.
    struct LeftOut: Sendable {
        let level: Log.Level
        let message: String
        let count: Int
    }

    /// How many lines of one kind are written per window. A window begins with its first line.
    static let linesInWindow = 30
    static let window = 10.0

    private struct Window {
        let end: Deadline
        var written = 0
        /// The first line that was left out; `count` is the number of such lines.
        var leftOut: LeftOut?
    }

    private struct State {
        var windows: [Kind: Window] = [:]
        var total = 0
    }

    private let state = Lock(State())
    private let clock: @Sendable () -> Deadline

    init(clock: @escaping @Sendable () -> Deadline = { .now }) { self.clock = clock }

    /// How many lines were left out in total.
    var total: Int { state.withLock { $0.total } }

    /// Returns whether a line may be written now, and what an ended window has left out.
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

    /// Returns, once, what ended windows have left out; with `all`, also the windows that have not ended.
    func settle(all: Bool, at time: Deadline? = nil) -> [LeftOut] {
        let now = time ?? clock()
        return state.withLock { state in
            let ended = state.windows.filter { all || $0.value.end <= now }
            for kind in ended.keys { state.windows[kind] = nil }
            return ended.values.compactMap(\.leftOut).sorted { $0.message < $1.message }
        }
    }
}
