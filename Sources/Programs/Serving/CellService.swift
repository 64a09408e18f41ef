internal import Accounts
internal import EventLog
internal import Health
internal import Ingestion
internal import ServiceRuntime

/// What an ingest process runs for one database: its writers, its request worker, and the keeper of its months. A
/// process runs one for each cell of a cluster, so that nothing of one cell waits for another.
final class CellService: Sendable {
    let keeper: LogKeeper
    let watch: ClockWatch
    let commits: GroupCommit
    let requestWorker: RequestWorker
    /// Where the time goes that this process spends for this database.
    let phases: PhaseNotes

    /// `revive` is called when the database is away; `learned` when its log tells of a map of shards.
    init(
        url: String, _ configuration: Service.Configuration, metrics: IngestionMetrics, log: Log,
        revive: @escaping @Sendable () throws -> Void = {}, learned: @escaping @Sendable (Int64) -> Void
    ) {
        let months = PartitionRequests()
        let watch = ClockWatch(trustsClock: configuration.trustsClock, log: log)
        self.watch = watch
        let phases = PhaseNotes(node: configuration.node)
        self.phases = phases
        keeper = LogKeeper(
            url: url, role: .ingest, months: months, log: log, watch: watch, phases: phases, revive: revive)
        commits = GroupCommit(
            configuration.commits,
            appender: Appender.Configuration(
                url: url, node: configuration.node, mostWords: configuration.mostWords, newWords: configuration.newWords
            ),
            months: months, log: log, metrics: metrics, learned: learned)
        requestWorker = RequestWorker(url: url, log: log)
        phases.add(.commit) { [commits] in commits.phases.totals }
    }

    /// For the table of destinations, as the cell with this number.
    func destination(_ number: Int16 = 0) -> Destination {
        Destination(
            number: number, commits: commits, requestWorker: requestWorker,
            clockFault: { [watch] reading in watch.fault(of: reading) })
    }

    /// Why it takes no events now; nil if it takes them.
    var fault: String? {
        if let reason = keeper.health.reason { return reason }
        if let fault = watch.fault { return "The clock is wrong: \(fault)." }
        return isConnected ? nil : Self.connecting
    }

    /// Said at the start, and when the database takes no new connection while the keeper still has one.
    static let connecting = "Connecting to the database; if that lasts, the log says why it fails."

    private var isConnected: Bool { commits.isConnected && requestWorker.isConnected }

    /// Whether its database can be reached by whoever writes, and fits this program.
    var isUp: Bool { keeper.health == .well && isConnected }

    /// Why it takes no events now, with the database's own error, for an operator; nil if it takes them.
    var complaint: String? { keeper.health.complaint ?? fault }

    /// Whether it takes events, or it is known that it does not.
    var isSettled: Bool {
        switch keeper.health {
        case .unknown: false
        case .well: fault == nil
        case .away, .refused, .unfit: true
        }
    }

    func start() {
        keeper.start()
        commits.start()
        requestWorker.start()
    }

    /// Commits what waits, then ends.
    func stop() {
        commits.stop()
        requestWorker.stop()
        keeper.stop()
    }
}

extension LogKeeper.Health {
    /// What the database said when it could not be used.
    var complaint: String? {
        switch self {
        case .well, .unknown: nil
        case .away(let reason), .refused(let reason), .unfit(let reason): reason
        }
    }

    /// Why the database cannot be used; nil if it can.
    var reason: String? {
        switch self {
        case .well: nil
        case .unknown: "The database has not been reached yet."
        case .away: "The database cannot be reached."
        case .refused: "The database refuses the service's login."
        case .unfit(let reason): "The database does not fit this program: \(reason)."
        }
    }
}
