internal import Accounts
package import EventLog
package import HTTPServer
internal import Health
package import Ingestion
internal import Projections
package import ServiceRuntime
package import Values

/// The parts of a running service, connected: started from the database outward, stopped from the network inward.
package final class Service: Sendable {
    /// The parts that this process runs.
    package enum Part: String, CaseIterable { case ingest, project }

    /// Beside writers; a process that only projects has a keeper alone.
    private let keeper: LogKeeper
    private let ingestion: Ingestion?
    private let runner: Runner?
    private let erasures: ErasureKeeper?
    private let doors: [HTTPServer]
    private let draining = Lock(false)
    private let isReady: Router.ReadinessCheck
    private let log: Log

    /// The part that accepts events.
    private struct Ingestion {
        let keys: KeyDirectory
        let decoding: Decoding
        let home: CellService
        let destinations: Destinations
        let cluster: ClusterWatch
        let lookout: ClusterLookout

        init(
            _ configuration: Configuration, metrics: IngestionMetrics, log: Log,
            revive: @escaping @Sendable () throws -> Void
        ) {
            // What runs for a cell is made before the watch that it reports to.
            let heard = Lock<(@Sendable (Int64) -> Void)?>(nil)
            let learned: @Sendable (Int64) -> Void = { epoch in heard.withLock { $0 }?(epoch) }
            let (url, keys) = (configuration.url, KeyDirectory(url: configuration.url, log: log))
            let home = CellService(
                url: url, configuration, metrics: metrics, log: log, revive: revive, learned: learned)
            let destinations = Destinations(home.destination(), learned: learned)
            let cluster = ClusterWatch(
                url: url, home: home, destinations: destinations, keys: keys,
                mostConnections: configuration.server.connectionLimit, log: log
            ) { CellService(url: $0, configuration, metrics: metrics, log: log, learned: learned) }
            heard.withLock { $0 = { [weak cluster] epoch in cluster?.hear(of: epoch) } }
            (self.keys, self.home, self.destinations, self.cluster) = (keys, home, destinations, cluster)
            lookout = ClusterLookout(node: configuration.node, log: log) { [weak cluster] in cluster?.databases ?? [] }
            decoding = Decoding()
        }

        /// What is missing for it to take events; nil if nothing is. In a cluster one cell is enough.
        var missing: String? {
            let cells = cluster.cells
            if cells.isEmpty {
                if let fault = home.fault { return fault }
            } else {
                let faults = cells.sorted { $0.key < $1.key }.compactMap { cell in
                    cell.value.map { "\(cell.key): \($0)" }
                }
                if faults.count == cells.count { return faults.joined(separator: " ") }
            }
            return cluster.hasSettled && keys.isReady ? nil : CellService.connecting
        }

        /// What a process that is ready has to say nevertheless: which cells it cannot work in.
        var remarks: [String] {
            cluster.cells.sorted { $0.key < $1.key }.compactMap { cell in
                cell.value.map { "cell \(cell.key): \($0)" }
            }
        }
    }

    package struct Configuration {
        package var url: String
        package var server: HTTPServerConfiguration
        package var metricsListen: HTTPServerConfiguration.Address?
        package var parts = Set(Part.allCases)
        package var commits = GroupCommit.Configuration()
        package var lanes = 2
        package var mostWords: Int32 = 100_000
        package var newWords = Appender.Configuration.NewWords()
        package var node: String
        /// The web pages beside this process; nil if there are none.
        package var pages: Pages?
        package var crossOrigin = CrossOrigin([])
        /// Allows the log's last commits to be ahead of this machine's clock.
        package var trustsClock = false
        /// The time at which events are received: now, unless a demonstration sets it.
        package var clock: (@Sendable () -> Timestamp)?

        package struct Pages: Sendable {
            /// For whoever opens the ingestion port in a browser.
            package var address: String
            /// Whether they are there, how often they were started again, and with which status they last ended.
            package typealias Health = (isUp: Bool, restarts: Int, lastExit: Int32?)
            package var health: @Sendable () -> Health

            package init(address: String, health: @escaping @Sendable () -> Health) {
                (self.address, self.health) = (address, health)
            }
        }

        package init(url: String, server: HTTPServerConfiguration, node: String) {
            (self.url, self.server, self.node) = (url, server, node)
        }
    }

    /// `revive` is called when the database is away; `linesLeftOut` counts the lines that the log left out, by reason.
    package init(
        _ configuration: Configuration, log: Log, revive: @escaping @Sendable () throws -> Void,
        linesLeftOut: @escaping @Sendable () -> [String: Int] = { [:] }
    ) throws {
        self.log = log
        let url = configuration.url
        let registry = Metrics()
        let metrics = IngestionMetrics(registry)
        let ingestion =
            configuration.parts.contains(.ingest)
            ? Ingestion(configuration, metrics: metrics, log: log, revive: revive) : nil
        let phases = ingestion?.home.phases ?? PhaseNotes(node: configuration.node)
        // Each half needs only the rights of its own role.
        let keeper =
            ingestion?.home.keeper
            ?? LogKeeper(
                url: url, role: .projector, months: PartitionRequests(), log: log, phases: phases, revive: revive)
        let runner =
            configuration.parts.contains(.project)
            ? Runner(
                Runner.Configuration(url: url, lanes: configuration.lanes), metrics: registry, log: log,
                isWell: { keeper.health == .well }) : nil
        if let runner { phases.add(.step) { runner.phases.totals } }
        let erasures =
            configuration.parts.contains(.project)
            ? ErasureKeeper(url: url, metrics: registry, log: log, isWell: { keeper.health == .well }) : nil
        let draining = self.draining
        let isDraining: @Sendable () -> Bool = { draining.withLock { $0 } }
        let isReady: Router.ReadinessCheck = {
            if isDraining() { return Router.NotReady("The service is stopping.") }
            if let ingestion { return ingestion.missing.map(Router.NotReady.init) }
            return (keeper.health.reason ?? runner?.standstill).map(Router.NotReady.init)
        }
        let intake = ingestion.map { ingestion in
            Intake(
                keys: ingestion.keys, decoding: ingestion.decoding, destinations: ingestion.destinations,
                metrics: metrics, log: log, clock: configuration.clock, isDraining: isDraining)
        }
        let router = Router(
            configuration.metricsListen == nil ? .everything : .withoutMetrics, intake: intake, metrics: metrics,
            crossOrigin: configuration.crossOrigin, pages: configuration.pages?.address, isReady: isReady,
            remarks: { ingestion?.remarks ?? [] })
        var doors = [
            try HTTPServer(
                configuration: configuration.server, handler: router, log: log, errorResponse: Router.response(to:))
        ]
        if let metricsListen = configuration.metricsListen {
            var quiet = HTTPServerConfiguration(listen: metricsListen)
            quiet.connectionLimit = 64
            quiet.memoryLimit = 8 << 20
            let metricsRouter = Router(
                .inside, intake: nil, metrics: metrics, isReady: isReady, remarks: { ingestion?.remarks ?? [] })
            doors.append(
                try HTTPServer(
                    configuration: quiet, handler: metricsRouter, log: log, errorResponse: Router.response(to:)))
        }
        (self.keeper, self.ingestion, self.runner, self.erasures) = (keeper, ingestion, runner, erasures)
        (self.doors, self.isReady) = (doors, isReady)
        let door = doors[0]
        registry.counter("bellwether_http_requests_total", "Requests answered, by status.", label: "status") {
            Dictionary(uniqueKeysWithValues: door.counts.answers.map { (String($0.key), $0.value) })
        }
        registry.gauge("bellwether_connections", "Open client connections.") { Double(door.counts.connectionsOpen) }
        registry.gauge(
            "bellwether_connection_memory_bytes", "Bytes that client connections and request bodies use."
        ) { Double(door.counts.memoryHeld) }
        registry.gauge(
            "bellwether_certificate_expiry_timestamp_seconds",
            "When the certificate expires, in seconds since 1970; only with TLS."
        ) { door.certificateExpiry.map(Double.init) }
        registry.gauge("bellwether_requests_in_flight", "Requests that are waiting for an answer.") {
            Double(door.counts.requestsInFlight)
        }
        registry.counter(
            "bellwether_connections_total", "Client connections, by what happened to them.", label: "result"
        ) {
            let counts = door.counts
            return [
                "accepted": counts.connectionsAccepted, "refused": counts.connectionsRefused,
                "cut": counts.connectionsCut, "evicted": counts.connectionsEvicted,
            ]
        }
        registry.counter(
            "bellwether_log_lines_left_out_total", "Lines left out of the log, by reason.", label: "reason",
            linesLeftOut
        )
        registry.gauge("bellwether_queue_bytes", "Bytes of events that are waiting for a commit.") {
            Double(ingestion?.destinations.queued ?? 0)
        }
        registry.gauge("bellwether_decoding_requests", "Requests whose body is waiting to be unpacked and decoded.") {
            Double(ingestion?.decoding.waiting ?? 0)
        }
        registry.gauge("bellwether_database_up", "1 when the database can be reached and fits this program, else 0.") {
            ingestion?.home.isUp ?? (keeper.health == .well) ? 1 : 0
        }
        let pages = configuration.pages
        registry.gauge("bellwether_pages_up", "1 when there is a process that serves the web pages, else 0.") {
            pages.map { $0.health().isUp ? 1 : 0 }
        }
        registry.counter(
            "bellwether_pages_restarts_total", "How often the process of the web pages ended and was started again."
        ) { pages?.health().restarts ?? 0 }
        registry.gauge(
            "bellwether_pages_last_exit",
            "Exit status of the process of the web pages when it last ended (128 + n for signal n); "
                + "none if it never did."
        ) { pages?.health().lastExit.map(Double.init) }
        if let ingestion {
            registry.gauge(
                "bellwether_clock_trusted",
                "1 when this machine's clock agrees with the database's, else 0 (nothing is accepted then)."
            ) { ingestion.home.watch.fault == nil ? 1 : 0 }
            registry.gauge(
                "bellwether_cell_up", "1 when events of this cell of the cluster are accepted, else 0.", label: "cell"
            ) { ingestion.cluster.cells.mapValues { $0 == nil ? 1 : 0 } }
        }
    }

    package func start() {
        if let ingestion {
            ingestion.home.start()
            ingestion.keys.start()
            ingestion.decoding.start()
            ingestion.cluster.start()
            ingestion.lookout.start()
        } else {
            keeper.start()
        }
        runner?.start()
        erasures?.start()
        for door in doors {
            door.start()
            log.info("listening", ["address": "\(door.address)"])
        }
    }

    /// Reads certificate and key again, for clients that connect from now on.
    package func readCertificateAnew() {
        do {
            log.info(
                try doors[0].readCertificateAnew()
                    ? "SIGHUP: reloaded the certificate" : "SIGHUP: there is no certificate to reload")
        } catch {
            log.error("SIGHUP: the old certificate stays in use", ["error": "\(error)"])
        }
    }

    /// The address of its main listener.
    package var address: HTTPServerConfiguration.Address { doors[0].address }

    /// Waits until the service reports that it is ready; at the deadline, returns what is missing.
    package func waitUntilReady(by deadline: Deadline) -> String? {
        while let missing = isReady() {
            guard !deadline.hasPassed else { return missing.reason }
            _ = draining.wait(until: min(deadline, .after(seconds: 0.02))) { $0 ? true : nil }
        }
        return nil
    }

    /// Answers requests in progress, refuses new ones, commits what waits. Takes at most half a minute, whatever runs.
    package func stop() {
        draining.withLock { $0 = true }
        runner?.askToStop()
        erasures?.askToStop()
        let end = Deadline.after(seconds: 15)
        for door in doors { door.stop(deadline: end) }
        ingestion?.decoding.stop()
        ingestion?.home.commits.askToStop()
        ingestion?.lookout.stop()
        ingestion?.cluster.stop()
        ingestion?.home.commits.stop()
        ingestion?.home.requestWorker.stop()
        ingestion?.keys.stop()
        runner?.stop(patience: 5)
        erasures?.stop()
        keeper.stop()
    }
}
