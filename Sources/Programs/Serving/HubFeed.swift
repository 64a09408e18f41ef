internal import Accounts
internal import Postgres
internal import Registry
internal import Sends
internal import ServiceRuntime

/// Passes on to a hub what all databases of a cluster have: sends and categories. Nobody waits for a hub, so what it
/// misses while it is away is brought to it from the first cell when it is back, as is what it may have missed before
/// this process began.
final class HubFeed: Sendable {
    private struct State {
        var rows: [SharedTable.Rows] = []
        /// Whether there is more in the first cell than in `rows`.
        var hasMissed = true
    }

    private let worker = DatabaseWorker(State())
    private let url: String
    private let first: String
    private let name: String
    private let log: Log

    /// The most bytes that wait. A hub that is so far behind gets all tables.
    private static let mostBytes = 8 * 1024 * 1024
    /// Seconds for comparing all tables and bringing what is missing.
    private static let longestComparison = 600.0
    private static let tables = Registrar.sharedTables + SendStore.sharedTables

    /// `first` is the URL of the first cell.
    init(of url: String, from first: String, name: String, log: Log) {
        (self.url, self.first, self.name, self.log) = (url, first, name, log)
    }

    func start() { worker.start(["hub"]) { _ in self.run() } }

    /// Does not wait for a hub that stands still: what is not done now, the next process does when it starts.
    func stop() { worker.askToStop() }

    /// The first cell has these rows.
    func pass(on rows: [SharedTable.Rows]) {
        worker.notify { state, _ in
            guard !state.hasMissed else { return }
            state.rows += rows
            guard state.rows.reduce(0, { $0 + $1.bytes }) > Self.mostBytes else { return }
            (state.rows, state.hasMissed) = ([], true)
        }
    }

    private func run() {
        worker.keep(Backoff(first: 0.5, most: 30)) { () throws(PostgresError) -> Connection? in
            try open(url)
        } work: { hub, backoff throws(PostgresError) in
            worker.goOn()
            while let work = worker.next(Self.take) {
                if let rows = work {
                    hub.deadline = .after(seconds: 30)
                    try hub.transaction { hub throws(PostgresError) in
                        for rows in rows { try SharedTable.store(rows, on: &hub) }
                    }
                } else {
                    hub.deadline = .after(seconds: Self.longestComparison)
                    try bringAll(to: &hub)
                }
                backoff.reset()
            }
        } failed: { error, isNews in
            worker.withLock { state in (state.rows, state.hasMissed) = ([], true) }
            if isNews {
                log.warning(
                    "the hub '\(name)' does not get sends and categories; it gets them when it can be reached again",
                    ["error": "\(error)"])
            }
        }
    }

    /// Rows to store, or nil within if all tables are to be compared.
    private static func take(_ state: inout State) -> [SharedTable.Rows]?? {
        if state.hasMissed {
            state.hasMissed = false
            return .some(nil)
        }
        guard !state.rows.isEmpty else { return nil }
        defer { state.rows = [] }
        return state.rows
    }

    private func bringAll(to hub: inout Connection) throws(PostgresError) {
        var source = try open(first)
        source.deadline = .after(seconds: Self.longestComparison)
        for table in Self.tables where try table.content(on: &source) != table.content(on: &hub) {
            _ = try table.copyAll(from: &source, to: &hub)
        }
    }

    private func open(_ url: String) throws(PostgresError) -> Connection {
        try LogSession.open(url: url, role: .ingest, purpose: "hub", log: log, statementSeconds: 600)
    }
}
