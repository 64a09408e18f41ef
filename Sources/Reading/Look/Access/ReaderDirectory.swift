internal import Accounts
internal import Postgres
internal import ServiceRuntime

/// The keys that open pages, read anew every other second, so that a revoked one closes them soon, and as soon as
/// somebody shows one that is not among them, so that a new one opens them at once.
final class ReaderDirectory: Sendable {
    private struct State: Sendable {
        var keys: [ReaderKey.Access] = []
        var goodUntil = Deadline.now
        /// Once there was a key, nobody gets in without one, even after the last is revoked.
        var hadKeys = false
        /// Keys that were used and of which that is still to be stored, and when each may be stored again.
        var used: Set<String> = []
        var noted: [String: Deadline] = [:]
        /// What waits for the keys to be read again.
        var waiting: [@Sendable () -> Void] = []
    }

    private let worker = DatabaseWorker(State())
    private let url: String
    /// Whether only this machine reaches the pages.
    private let isLocal: Bool
    private let log: Log
    private static let refreshSeconds = 1.5
    private static let trustedSeconds = 10.0
    private static let secondsBetweenNotes = 300.0

    init(url: String, isLocal: Bool, log: Log) { (self.url, self.isLocal, self.log) = (url, isLocal, log) }

    /// Who may look.
    enum Admission: Sendable {
        /// Everybody on this machine: there is no key.
        case open
        case keys([ReaderKey.Access])
        /// Nobody can tell now: the database is away.
        case unknown
    }

    var admission: Admission {
        worker.withLock { state in
            guard !state.goodUntil.hasPassed else { return .unknown }
            return isLocal && !state.hadKeys ? .open : .keys(state.keys)
        }
    }

    /// The key with this secret, among those that were read last.
    func known(_ secret: some StringProtocol) -> ReaderKey.Access? {
        let keys = worker.withLock { state in state.keys }
        return keys.matching(secret)
    }

    /// Finds the key with this secret. If nobody knows it, it may be new: then the keys are read again before the answer
    /// is nil. Whoever asks sees to it that few do.
    func find(_ secret: String, _ found: @escaping @Sendable (ReaderKey.Access?) -> Void) {
        if let key = known(secret) { return found(key) }
        let waits = worker.notify { state, readiness in
            guard readiness == .ready else { return false }
            state.waiting.append { found(self.known(secret)) }
            return true
        }
        if !waits { found(nil) }
    }

    /// Somebody reads with this key. It is stored now and then.
    func note(_ key: String) {
        worker.withLock { state in
            if state.noted[key]?.hasPassed ?? true { state.used.insert(key) }
        }
    }

    func start() { worker.start(["look keys"]) { _ in self.run() } }
    func stop() {
        worker.stop()
        answer(Int.max)
    }

    /// What it would read first.
    static func read(_ url: String, log: Log) throws(PostgresError) -> [ReaderKey.Access] {
        var connection = try open(url, log)
        return try ReaderKeys.open(on: &connection)
    }

    private static func open(_ url: String, _ log: Log) throws(PostgresError) -> Connection {
        try LogSession.open(url: url, role: .look, purpose: "look keys", log: log, statementSeconds: 5)
    }

    /// A standby cannot store it, and reads all the same.
    private func storeUse(on connection: inout Connection) {
        let names = worker.withLock { state in
            defer { state.used = [] }
            state.noted = state.noted.filter { !$0.value.hasPassed }
            for name in state.used { state.noted[name] = .after(seconds: Self.secondsBetweenNotes) }
            return state.used.sorted()
        }
        guard !names.isEmpty else { return }
        do { try ReaderKeys.noteUse(of: names, on: &connection) } catch {
            log.debug("look: the use of keys was not stored", ["error": "\(error)"])
        }
    }

    /// Lets the first of those go on who wait.
    private func answer(_ count: Int) {
        let ready = worker.withLock { state in
            defer { state.waiting.removeFirst(min(count, state.waiting.count)) }
            return state.waiting.prefix(count)
        }
        for goOn in ready { goOn() }
    }

    private func run() {
        worker.keep(Backoff(first: 0.1, most: 2)) { () throws(PostgresError) in
            try Self.open(url, log)
        } work: { connection, backoff throws(PostgresError) in
            while !worker.isStopping {
                connection.deadline = .after(seconds: 5)
                let goodUntil = Deadline.after(seconds: Self.trustedSeconds)
                let waiting = worker.withLock { state in state.waiting.count }
                let keys = try ReaderKeys.open(on: &connection)
                worker.withLock { state in
                    (state.keys, state.goodUntil) = (keys, goodUntil)
                    if !keys.isEmpty { state.hadKeys = true }
                }
                worker.goOn()
                answer(waiting)
                storeUse(on: &connection)
                backoff.reset()
                let refresh = Deadline.after(seconds: Self.refreshSeconds)
                _ = worker.next(by: refresh) { state in state.waiting.isEmpty ? nil : true }
            }
        } failed: { error, isNews in
            answer(Int.max)
            if isNews { log.warning("look: the reader keys cannot be read", ["error": "\(error)"]) }
        }
    }
}
