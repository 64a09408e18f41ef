internal import Accounts
internal import Postgres
package import ServiceRuntime

/// The valid keys, kept in memory.
///
/// All keys are read again every second, so a revoked key is refused within five seconds, and a request that got past
/// this is not committed (`Appender`, `log.require_open_key`). An unknown key is looked up at once, so a new key works
/// at once. One query serves all look-ups that wait.
package final class KeyDirectory: Sendable {
    enum Answer: Sendable {
        case access(Access)
        case unknown
        /// The database cannot be reached, so the key cannot be checked.
        case unavailable
    }

    private struct State: Sendable {
        /// Keyed by the first eight bytes of the hash; the rest is compared in constant time.
        var known: [UInt64: [Access]] = [:]
        /// Until when `known` may be trusted: a revoked key must not stay valid because we cannot ask.
        var goodUntil = Deadline.now
        var waiting: [Lookup] = []
    }

    private struct Lookup: Sendable {
        let hash: SHA256
        let answer: @Sendable (Answer) -> Void
    }

    private let worker = DatabaseWorker(State())
    /// The databases that have the keys, which of them is asked now, and how often there were others.
    private let urls: Lock<(all: [String], asked: Int, changes: Int)>
    private let log: Log
    private let refreshSeconds: Double
    /// More waiting look-ups than this are refused: somebody is guessing.
    private let mostWaiting = 10_000

    package init(url: String, log: Log, refreshSeconds: Double = 1) {
        urls = Lock(([url], 0, 0))
        self.log = log
        self.refreshSeconds = refreshSeconds
    }

    /// Every cell of a cluster has all keys. If one cannot be asked, the next one is.
    package func use(_ urls: [String]) {
        self.urls.withLock { known in if known.all != urls { known = (urls, 0, known.changes + 1) } }
    }

    /// Whose key it is, as far as memory tells: the common case must not wake the directory's thread.
    func known(_ secret: String) -> Access? {
        let hash = SHA256(of: secret.utf8)
        return worker.withLock { state in
            state.goodUntil.hasPassed ? nil : Self.match(hash, in: state.known)
        }
    }

    /// Asks the database. Answers later on the directory's thread, or at once that nobody can be asked.
    func lookUp(_ secret: String, _ answer: @escaping @Sendable (Answer) -> Void) {
        let hash = SHA256(of: secret.utf8)
        let isQueued = worker.notify { state, readiness in
            guard readiness == .ready, state.waiting.count < mostWaiting else { return false }
            state.waiting.append(Lookup(hash: hash, answer: answer))
            return true
        }
        if !isQueued { answer(.unavailable) }
    }

    /// Whether requests get an answer now: the last query succeeded, or the known keys may still be trusted. So nothing
    /// is refused while the next cell is asked in place of one that is away.
    package var isReady: Bool { worker.readiness == .ready || worker.withLock { !$0.goodUntil.hasPassed } }

    package func start() { worker.start(["keys"]) { _ in self.run() } }
    package func stop() { worker.stop() }

    private func run() {
        worker.keep(Backoff(first: 0.05, most: 2)) { () throws(PostgresError) in
            try LogSession.open(
                url: urls.withLock { $0.all[$0.asked % $0.all.count] }, role: .ingest, purpose: "keys", log: log,
                statementSeconds: 5)
        } work: { connection, backoff throws(PostgresError) in
            backoff.reset()
            let changes = urls.withLock { $0.changes }
            // The one that is asked may have left the cluster.
            while !worker.isStopping, urls.withLock({ $0.changes }) == changes {
                try refresh(&connection)
                worker.goOn()
                let next = Deadline.after(seconds: refreshSeconds)
                while let waiting = worker.next(by: next, Self.takeWaiting) { try answer(waiting, on: &connection) }
            }
        } failed: { error, _ in
            turnAway()
            urls.withLock { $0.asked += 1 }
            log.debug("the key directory cannot reach the database", ["error": "\(error)"])
        }
        turnAway()
    }

    private func refresh(_ connection: inout Connection) throws(PostgresError) {
        // If another database can be asked, there must be time for it while the known keys may be trusted.
        connection.deadline = .after(seconds: urls.withLock { $0.all.count } > 1 ? 2 : 5)
        let goodUntil = Deadline.after(seconds: 4)
        var known: [UInt64: [Access]] = [:]
        for access in try Access.all(on: &connection) {
            known[Self.prefix(access.hash), default: []].append(access)
        }
        worker.withLock { [known] state in (state.known, state.goodUntil) = (known, goodUntil) }
    }

    private static func takeWaiting(_ state: inout State) -> [Lookup]? {
        guard !state.waiting.isEmpty else { return nil }
        defer { state.waiting = [] }
        return state.waiting
    }

    private func turnAway() {
        for lookup in worker.withLock(Self.takeWaiting) ?? [] { lookup.answer(.unavailable) }
    }

    private func answer(_ waiting: [Lookup], on connection: inout Connection) throws(PostgresError) {
        connection.deadline = .after(seconds: 5)
        let found: [Access]
        do {
            found = try Access.find(Array(Set(waiting.map(\.hash))), on: &connection)
        } catch {
            for lookup in waiting { lookup.answer(.unavailable) }
            throw error
        }
        let byPrefix = Dictionary(grouping: found) { Self.prefix($0.hash) }
        worker.withLock { state in
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
