internal import EventLog
internal import HTTPServer
internal import Ingestion
internal import ServiceRuntime

/// The parts of a running service, wired together: started from the database outward, stopped from the door inward.
final class Service: Sendable {
    private let keeper: LogKeeper
    private let keys: KeyDirectory
    private let commits: GroupCommit
    private let doors: [HTTPServer]
    private let draining = Lock(false)
    private let log: Log

    init(
        url: String, server: HTTPServerConfiguration, metricsListen: HTTPServerConfiguration.Address?,
        commits configuration: GroupCommit.Configuration, mostWords: Int32, node: String, crossOrigin: CrossOrigin,
        log: Log, revive: @escaping @Sendable () throws -> Void
    ) throws {
        self.log = log
        let registry = Metrics()
        let metrics = IngestionMetrics(registry)
        let months = MonthBook()
        let keeper = LogKeeper(url: url, months: months, log: log, revive: revive)
        let keys = KeyDirectory(url: url, log: log)
        let commits = GroupCommit(
            configuration, appender: Appender.Configuration(url: url, node: node, mostWords: mostWords), months: months,
            log: log, metrics: metrics)
        let draining = self.draining
        let isDraining: @Sendable () -> Bool = { draining.withLock { $0 } }
        let isReady: Router.ReadinessCheck = {
            if isDraining() { return Router.NotReady("The service is stopping.") }
            switch keeper.health {
            case .well: break
            case .unknown: return Router.NotReady("The database was not reached yet.")
            case .away: return Router.NotReady("The database is away.")
            case .unfit(let reason): return Router.NotReady("The database does not fit this program: \(reason).")
            }
            return commits.isConnected && keys.isConnected ? nil : Router.NotReady("The database is being reached.")
        }
        let route = EventsRoute(keys: keys, commits: commits, metrics: metrics, log: log, isDraining: isDraining)
        let router = Router(
            metricsListen == nil ? .everything : .withoutMetrics, events: route, metrics: metrics,
            crossOrigin: crossOrigin,
            isReady: isReady)
        var doors = [
            try HTTPServer(configuration: server, handler: router, log: log, errorResponse: Router.response(to:))
        ]
        if let metricsListen {
            var quiet = HTTPServerConfiguration(listen: metricsListen)
            quiet.connectionLimit = 64
            let metricsRouter = Router(.metricsOnly, events: nil, metrics: metrics, isReady: isReady)
            doors.append(
                try HTTPServer(
                    configuration: quiet, handler: metricsRouter, log: log, errorResponse: Router.response(to:)))
        }
        (self.keeper, self.keys, self.commits, self.doors) = (keeper, keys, commits, doors)
        let door = doors[0]
        registry.counter("bellwether_http_requests_total", "Requests answered, by status.", label: "status") {
            Dictionary(uniqueKeysWithValues: door.counts.answers.map { (String($0.key), $0.value) })
        }
        registry.gauge("bellwether_connections", "Open client connections.") { Double(door.counts.connectionsOpen) }
        registry.gauge("bellwether_requests_in_flight", "Requests that wait for their answer.") {
            Double(door.counts.requestsInFlight)
        }
        registry.counter("bellwether_connections_total", "Client connections, by what became of them.", label: "result")
        {
            let counts = door.counts
            return [
                "accepted": counts.connectionsAccepted, "refused": counts.connectionsRefused,
                "cut": counts.connectionsCut,
            ]
        }
        registry.gauge("bellwether_queue_bytes", "Bytes of events that wait for their commit.") {
            Double(commits.queued)
        }
        registry.gauge("bellwether_database_up", "1 when the database is reached and fits, else 0.") {
            keeper.health == .well ? 1 : 0
        }
    }

    func start() {
        keeper.start()
        keys.start()
        commits.start()
        for door in doors {
            door.start()
            log.info("listening", ["address": "\(door.address)"])
        }
    }

    /// Answers what is in flight, refuses what is new, commits what waits.
    func stop() {
        draining.withLock { $0 = true }
        for door in doors { door.stop(deadline: .after(seconds: 30)) }
        commits.stop()
        keys.stop()
        keeper.stop()
    }
}
