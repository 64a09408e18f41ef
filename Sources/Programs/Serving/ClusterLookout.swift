internal import Accounts
internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// Looks around in a cluster every few seconds: which cells this process cannot work in, and which were restored from a
/// backup. It says so in the log and in the databases, where `cluster status`, `doctor` and `cluster move` find it.
final class ClusterLookout: Sendable {
    /// A database of the cluster as this process sees it.
    struct Database: Sendable {
        let cell: ClusterMap.Cell
        let url: String
        /// Why it cannot work there; nil if it can, or need not.
        let fault: String?
    }

    /// What was written to the log, by cell.
    private let worker = DatabaseWorker([String: String]())
    private let node: String
    private let databases: @Sendable () -> [Database]
    private let log: Log

    private static let pause = 5.0

    /// `databases` are those of the cluster, its own first; none outside a cluster, or before it is known how they are.
    init(node: String, log: Log, databases: @escaping @Sendable () -> [Database]) {
        (self.node, self.databases, self.log) = (node, databases, log)
    }

    func start() { worker.start(["lookout"]) { _ in self.run() } }

    func stop() { worker.stop() }

    /// A connection that stays while it is not used.
    private final class Session {
        var connection: Connection
        init(_ connection: consuming Connection) { self.connection = connection }
    }

    private func run() {
        var sessions: [String: Session] = [:]
        while !worker.isStopping {
            let databases = self.databases()
            let urls = Dictionary(databases.map { ($0.cell, $0.url) }) { first, _ in first }
            sessions = sessions.filter { urls.values.contains($0.key) }
            func ask(_ cell: ClusterMap.Cell, _ body: (inout Connection) throws(PostgresError) -> Void) -> Bool {
                guard let url = urls[cell], !worker.isStopping else { return false }
                do throws(PostgresError) {
                    let session: Session
                    if let known = sessions[url] { session = known } else { session = Session(try open(url)) }
                    session.connection.deadline = .after(seconds: 5)
                    try body(&session.connection)
                    sessions[url] = session
                    return true
                } catch {
                    sessions[url] = nil
                    log.debug("the lookout was not answered", ["cell": cell.name, "error": "\(error)"])
                    return false
                }
            }
            if !databases.isEmpty { look(databases, ask) }
            worker.rest(Self.pause)
        }
    }

    private func look(
        _ databases: [Database],
        _ ask: @escaping (ClusterMap.Cell, (inout Connection) throws(PostgresError) -> Void) -> Bool
    ) {
        // Who cannot be reached by those who take events is not waited for here.
        let reached = databases.filter { $0.fault == nil }
        let lacking = CellWitness.compare(reached.map(\.cell)) { cell, body in _ = ask(cell, body) }
        var troubles: [String: String] = [:]
        for database in databases { troubles[database.cell.name] = database.fault }
        for cell in lacking {
            troubles[cell.name] =
                "it was restored from a backup: what was committed last is not there any more. "
                + "Run bellwether cluster check"
        }
        let known = worker.withLock { known in
            defer { known = troubles }
            return known
        }
        for (cell, trouble) in troubles.sorted(by: { $0.key < $1.key }) where known[cell] != trouble {
            log.error("a cell of the cluster cannot be used as it is", ["cell": cell, "reason": trouble])
        }
        for cell in known.keys.sorted() where troubles[cell] == nil {
            log.info("a cell of the cluster is well again", ["cell": cell])
        }
        let faults = databases.filter { !$0.cell.isHub }.map { (cell: $0.cell.number, fault: $0.fault) }
        for database in reached where !database.cell.isHub {
            if ask(
                database.cell,
                { connection throws(PostgresError) in
                    try CellReport.tell(faults, node: node, on: &connection)
                })
            {
                break
            }
        }
    }

    private func open(_ url: String) throws(PostgresError) -> Connection {
        try LogSession.open(url: url, role: .ingest, purpose: "lookout", log: log, statementSeconds: 5)
    }
}
