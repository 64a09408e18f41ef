internal import Accounts
internal import Postgres
internal import ServiceRuntime

/// The keys that open pages, read anew every other second, so that a revoked one closes them soon.
final class ReaderDirectory: Sendable {
    private struct State: Sendable {
        var keys: [ReaderKey.Access] = []
        var goodUntil = Deadline.now
        /// Once there was a key, nobody gets in without one, even after the last is revoked.
        var hadKeys = false
    }

    private let worker = DatabaseWorker(State())
    private let url: String
    /// Whether only this machine reaches the pages.
    private let isLocal: Bool
    private let log: Log
    private static let refreshSeconds = 1.5
    private static let trustedSeconds = 10.0

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

    func start() { worker.start(["look keys"]) { _ in self.run() } }
    func stop() { worker.stop() }

    /// What it would read first.
    static func read(_ url: String, log: Log) throws(PostgresError) -> [ReaderKey.Access] {
        var connection = try open(url, log)
        return try ReaderKeys.open(on: &connection)
    }

    private static func open(_ url: String, _ log: Log) throws(PostgresError) -> Connection {
        try LogSession.open(url: url, role: .look, purpose: "look keys", log: log, statementSeconds: 5)
    }

    private func run() {
        worker.keep(Backoff(first: 0.1, most: 2)) { () throws(PostgresError) in
            try Self.open(url, log)
        } work: { connection, backoff throws(PostgresError) in
            while !worker.isStopping {
                connection.deadline = .after(seconds: 5)
                let goodUntil = Deadline.after(seconds: Self.trustedSeconds)
                let keys = try ReaderKeys.open(on: &connection)
                worker.withLock { state in
                    (state.keys, state.goodUntil) = (keys, goodUntil)
                    if !keys.isEmpty { state.hadKeys = true }
                }
                worker.goOn()
                backoff.reset()
                worker.rest(Self.refreshSeconds)
            }
        } failed: { error, isNews in
            if isNews { log.warning("look: the reader keys cannot be read", ["error": "\(error)"]) }
        }
    }
}
