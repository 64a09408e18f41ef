internal import Accounts
internal import Postgres
package import ServiceRuntime

/// Which keys open the door, kept in memory.
///
/// All keys are read anew every second, so a revoked one is turned away within five, and what got past this is not
/// committed (`Appender`, `log.require_open_key`). A key that is not known is looked up at
/// once, so a new one works at once. Those look-ups are gathered: one query serves all that wait.
package final class KeyDirectory: Sendable {
    enum Answer: Sendable {
        case access(Access)
        case unknown
        /// The database cannot be reached, so nobody can say.
        case unavailable
    }

    private struct State {
        /// By the first eight bytes of the hash; the rest is compared in constant time.
        var known: [UInt64: [Access]] = [:]
        /// Until when that may be trusted: a key that was revoked since must not live on because we cannot ask.
        var goodUntil = Deadline.now
        var waiting: [(hash: SHA256, answer: @Sendable (Answer) -> Void)] = []
        var isAway = true
        var isStopping = false
        var thread: Worker?
    }

    private let state = Lock(State())
    private let url: String
    private let log: Log
    private let refreshSeconds: Double
    /// More waiting look-ups than this are turned away: somebody is guessing.
    private let mostWaiting = 10_000

    package init(url: String, log: Log, refreshSeconds: Double = 1) {
        self.url = url
        self.log = log
        self.refreshSeconds = refreshSeconds
    }

    /// Answers at once from memory, or later, on the directory's thread.
    func find(_ secret: String, _ answer: @escaping @Sendable (Answer) -> Void) {
        let hash = SHA256(of: secret.utf8)
        // The common case must not wake the directory's thread.
        let known = state.withLock { state in
            state.goodUntil.hasPassed ? nil : Self.match(hash, in: state.known)
        }
        if let known { return answer(.access(known)) }
        let immediate: Answer? = state.withLockNotifying { state in
            guard !state.isAway, !state.isStopping, state.waiting.count < mostWaiting else { return .unavailable }
            state.waiting.append((hash, answer))
            return nil
        }
        if let immediate { answer(immediate) }
    }

    /// Whether the database answered lately.
    package var isConnected: Bool { state.withLock { state in !state.isAway } }

    package func start() {
        let thread = Worker(name: "keys") { self.run() }
        state.withLock { state in state.thread = thread }
    }

    package func stop() {
        state.withLockNotifying { state in state.isStopping = true }
        state.withLock { state in state.thread }?.join()
    }

    private func run() {
        var backoff = Backoff(first: 0.05, most: 2)
        while !state.withLock({ state in state.isStopping }) {
            do {
                var connection = try LogSession.open(
                    url: url, role: .ingest, purpose: "keys", log: log, statementSeconds: 5)
                backoff.reset()
                try serve(&connection)
            } catch {
                let waiting = state.withLock { state in
                    defer { (state.isAway, state.waiting) = (true, []) }
                    return state.waiting
                }
                for lookup in waiting { lookup.answer(.unavailable) }
                log.debug("the key directory cannot reach the database", ["error": "\(error)"])
                _ = state.wait(until: .after(seconds: backoff.next())) { state in state.isStopping ? true : nil }
            }
        }
        let waiting = state.withLock { state in state.waiting }
        for lookup in waiting { lookup.answer(.unavailable) }
    }

    private func serve(_ connection: inout Connection) throws(PostgresError) {
        while true {
            connection.deadline = .after(seconds: 5)
            let goodUntil = Deadline.after(seconds: 4)
            var known: [UInt64: [Access]] = [:]
            for access in try Access.all(on: &connection) {
                known[Self.prefix(access.hash), default: []].append(access)
            }
            state.withLock { state in
                state.known = known
                state.goodUntil = goodUntil
                state.isAway = false
            }
            let refresh = Deadline.after(seconds: refreshSeconds)
            while !refresh.hasPassed {
                let waiting = state.wait(until: refresh) {
                    state -> [(hash: SHA256, answer: @Sendable (Answer) -> Void)]? in
                    guard !state.waiting.isEmpty || state.isStopping else { return nil }
                    defer { state.waiting = [] }
                    return state.waiting
                }
                guard let waiting else { break }
                do {
                    try lookUp(waiting, on: &connection)
                } catch {
                    for lookup in waiting { lookup.answer(.unavailable) }
                    throw error
                }
                if state.withLock({ state in state.isStopping }) { return }
            }
        }
    }

    private func lookUp(
        _ waiting: [(hash: SHA256, answer: @Sendable (Answer) -> Void)], on connection: inout Connection
    ) throws(PostgresError) {
        guard !waiting.isEmpty else { return }
        connection.deadline = .after(seconds: 5)
        let found = try Access.find(Array(Set(waiting.map(\.hash))), on: &connection)
        let byPrefix = Dictionary(grouping: found) { Self.prefix($0.hash) }
        state.withLock { state in
            for access in found { state.known[Self.prefix(access.hash), default: []].append(access) }
        }
        for lookup in waiting {
            lookup.answer(Self.match(lookup.hash, in: byPrefix).map { .access($0) } ?? .unknown)
        }
    }

    private static func match(_ hash: SHA256, in known: [UInt64: [Access]]) -> Access? {
        known[prefix(hash)]?.first { $0.hash.equalsInConstantTime(hash) }
    }

    private static func prefix(_ hash: SHA256) -> UInt64 {
        hash.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
