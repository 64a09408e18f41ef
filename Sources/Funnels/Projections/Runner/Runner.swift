internal import Accounts
internal import EventLog
internal import Postgres
package import ServiceRuntime
internal import Values

/// Follows the log and keeps the live funnels up to date, on its own threads. Several runners may work on one database,
/// in one process or in many: each step locks the shards that it moves, and a runner that finds no free shard waits.
package final class Runner: Sendable {
    package struct Configuration: Sendable {
        package var url: String
        /// How many steps run at once, each on its share of the shards.
        package var lanes: Int
        /// The most events in a step: more are cheaper, and readers wait longer for the first of them.
        package var mostEvents: Int64 = 50_000
        /// Seconds between looks at a log that has nothing new.
        package var interval: Double = 0.1
        /// Seconds from a step that took the last few events to the next one, and between looks of lanes that have
        /// nothing to do then. A step of one event costs nearly as much as one of hundreds, in processor time and in
        /// write-ahead log, and nobody reads a funnel twice a second.
        package var gathering: Double = 0.5
        /// Seconds from the beginning of a step to that of the next one while more than a few events come: larger steps
        /// are cheaper per event.
        package var pace: Double = 0.3
        /// Fewer events than these wait for more after a step.
        package var few: Int64 = 4_000
        /// The backlog at which the other lanes help: enough for a step of each.
        package var much: Int64 = 20_000
        package var keptDays = KeptDays.Rules()

        package init(url: String, lanes: Int = 2) {
            self.url = url
            self.lanes = lanes
        }
    }

    private struct State: Sendable {
        /// When the funnels were last up to date with the log, or last moved.
        var advancedAt = Deadline.now
        /// The last known position of the shard furthest behind.
        var seenPosition: Int64?
        /// The last known backlog.
        var backlog: Backlog?
        var stopped: [StoppedProjection] = []
        /// The projections that need a rebuild.
        var due: [String] = []
        /// See `LastReport.oldest`.
        var lastReport: Timestamp?
    }

    let configuration: Configuration
    let log: Log
    let isWell: @Sendable () -> Bool
    private let worker = DatabaseWorker(State())
    /// Cancels a rebuild, and steps that do not end by themselves.
    let cancellation = Cancellation()
    private let steppers = Cancellation()
    private let care = StepCare()
    private let events: Counter
    private let steps: Counter
    private let failures: Counter
    /// Where the time of its steps goes.
    package let phases: PhaseTimes<StepPhase>

    /// `isWell` says whether the database fits this program. The runner does nothing while it does not.
    package init(
        _ configuration: Configuration, metrics: Metrics, log: Log, isWell: @escaping @Sendable () -> Bool
    ) {
        self.configuration = configuration
        self.log = log
        self.isWell = isWell
        events = metrics.counter("bellwether_projected_events_total", "Events folded into the funnels.")
        steps = metrics.counter("bellwether_projection_steps_total", "Steps taken by the projections.")
        failures = metrics.counter("bellwether_projection_retries_total", "Steps that failed and were tried again.")
        phases = PhaseTimes(
            PhaseHistograms(
                metrics, "bellwether_projection_phase_seconds",
                "Time that each step of the projections spent in each of its phases, failed steps included."))
        let state = worker
        metrics.gauge("bellwether_projection_lag_batches", "Batches of the log that the funnels do not have yet.") {
            state.withLock { state in state.backlog.map { Double(max(0, $0.head - ($0.position ?? 0))) } ?? 0 }
        }
        metrics.gauge("bellwether_projection_lag_seconds", "Age of the oldest batch that the funnels do not have yet.")
        {
            state.withLock { state in state.backlog?.seconds ?? 0 }
        }
        metrics.gauge(
            "bellwether_projection_stalled_seconds",
            "Seconds since the funnels last moved, while they are behind the log; 0 while they move."
        ) {
            let seconds = Self.stalledSeconds(state.withLock { $0.advancedAt })
            return seconds < 1 ? 0 : seconds
        }
        metrics.gauge(
            "bellwether_last_report_timestamp_seconds",
            "When the last report on a finished day was kept, for the app where this is longest ago; "
                + "0 before the first."
        ) {
            state.withLock { state in state.lastReport.map { (Double($0.microseconds) / 1e6).rounded() } ?? 0 }
        }
        metrics.gauge(
            "bellwether_projection_stopped", "The batch at which a projection stopped.", label: "projection"
        ) {
            state.withLock { state in
                Dictionary(uniqueKeysWithValues: state.stopped.map { ($0.name, Double($0.batch)) })
            }
        }
    }

    package func start() {
        worker.withLock { state in state.advancedAt = .now }
        let lanes = configuration.lanes
        worker.start((0..<lanes).map { "lane \($0)" } + ["automatic-rebuild", "kept-days"]) { number in
            switch number {
            case ..<lanes: self.run(number)
            case lanes: self.renew()
            default: self.keepDays()
            }
        }
    }

    /// Begins no more steps. An unfinished rebuild continues at the next start.
    package func askToStop() {
        worker.askToStop()
        cancellation.ask()
    }

    /// Waits for the present steps to end. Steps that take longer than `patience` seconds are rolled back, and run
    /// again after the next start.
    package func stop(patience: Double = 10) {
        askToStop()
        var end = Deadline.after(seconds: patience)
        let last = Deadline.after(seconds: patience + 10)
        while !worker.hasEnded(by: end) {
            // A database that hangs answers nobody. It rolls back when this process ends.
            guard !last.hasPassed else {
                return log.warning("the database does not answer: what it is still running is left to end by itself")
            }
            // Cancels repeatedly: a step has many statements, and may just be between two. Cancelling itself may take
            // long, too.
            _ = Worker(name: "cancel") { [steppers, cancellation] in
                steppers.ask()
                cancellation.ask()
            }
            end = .after(seconds: 0.5)
        }
        worker.join()
    }

    /// Tells an operator why the funnels do not move just now; nil while they do.
    package var standstill: String? {
        let seconds = Self.stalledSeconds(worker.withLock { $0.advancedAt })
        return seconds < ProjectionStatus.mostSecondsStill
            ? nil : "The funnels are behind the log and have not moved for \(Int(seconds)) seconds."
    }

    private static func stalledSeconds(_ advancedAt: Deadline) -> Double {
        Double(Deadline.now.nanoseconds - advancedAt.nanoseconds) / 1e9
    }

    /// Watches the shard furthest behind: others may move while it does not.
    private func note(_ backlog: Backlog) {
        worker.withLock { state in
            if backlog.isLevel || backlog.position != state.seenPosition { state.advancedAt = .now }
            state.seenPosition = backlog.position
        }
    }

    private func run(_ lane: Int) {
        var stepper = Stepper(choice: .live, mostEvents: configuration.mostEvents, sharing: care, log: log)
        stepper.watch = phases.watch()
        worker.keep(Backoff(first: 0.1, most: 5)) { () throws(any Error) -> Connection? in
            guard isWell() else {
                rest(configuration.interval)
                return nil
            }
            return try ProjectionSession.open(url: configuration.url, purpose: "projections", log: log)
        } work: { connection, backoff throws(any Error) in
            stepper.beginConnection()
            var (nextRound, nextReports) = (Deadline.now, Deadline.now)
            if lane == 0 {
                try steppers.during(&connection) { connection in try changeZones(byRules: true, &connection) }
            }
            while !isStopping, isWell() {
                if lane == 0, nextRound.hasPassed {
                    try steppers.during(&connection) { connection in try look(&connection) }
                    nextRound = .after(seconds: 1)
                }
                if lane == 0, nextReports.hasPassed {
                    try lookAtReports(&connection)
                    nextReports = .after(seconds: Self.secondsBetweenReports)
                }
                rest(try steppers.during(&connection) { connection in try follow(lane, &stepper, &connection) })
                backoff.reset()
            }
        } failed: { error, _ in
            guard !isStopping else { return }
            failures.add(1)
            log.warning("projections cannot go on and will try again", ["error": "\(error)"])
        }
    }

    /// Looked at once a second.
    private func look(_ connection: inout Connection) throws {
        let stopped = try StoppedProjection.all(on: &connection)
        let due = try AutomaticRebuild.due(on: &connection)
        worker.withLock { state in (state.stopped, state.due) = (stopped, due) }
        try changeZones(byRules: false, &connection)
    }

    /// Reports are made once a night.
    private static let secondsBetweenReports: Double = 15

    /// An error here must not stop the projections.
    private func lookAtReports(_ connection: inout Connection) throws {
        connection.deadline = .after(seconds: 10)
        defer { connection.deadline = .never }
        do {
            let last = try oldestReport(&connection)
            worker.withLock { state in state.lastReport = last }
        } catch {
            guard connection.isUsable else { throw error }
            log.warning("could not look up the last reports", ["error": "\(error)"])
        }
    }

    /// In a cluster with a hub the reports are made and kept there.
    private func oldestReport(_ connection: inout Connection) throws(PostgresError) -> Timestamp? {
        guard let hub = try ClusterMap.read(on: &connection)?.cells.first(where: \.isHub) else {
            return try LastReport.oldest(on: &connection)
        }
        let url = hub.url(for: ConnectionString.user(of: configuration.url))
        var reader = try LogSession.open(url: url, role: .projector, purpose: "reports", log: log, statementSeconds: 10)
        reader.deadline = .after(seconds: 10)
        return try LastReport.oldest(on: &reader)
    }

    /// Finishes zone changes that a command began, and makes those that an update of the time-zone data requires.
    private func changeZones(byRules: Bool, _ connection: inout Connection) throws {
        connection.deadline = .after(seconds: Double(ProjectionSession.statementSeconds) + 30)
        defer { connection.deadline = .never }
        for change in try ZoneChange.pending(byRules ? .noted : .recorded, on: &connection) {
            log.info(
                "moving the deliveries of an app to the days of its time zone",
                ["app": change.slug, "zone": change.timeZone])
            connection.deadline = .never
            let moved = try change.make(on: &connection)
            log.info(
                "moved the deliveries of an app to the days of its time zone",
                ["app": change.slug, "deliveries": "\(moved)"])
        }
    }

    /// Looks at the log once and takes a step if there is something new. Returns how long to rest then.
    private func follow(_ lane: Int, _ stepper: inout Stepper, _ connection: inout Connection) throws -> Double {
        connection.deadline = .after(seconds: Double(ProjectionSession.statementSeconds) + 30)
        defer { connection.deadline = .never }
        let backlog = try Backlog.read(.live, on: &connection)
        if lane == 0 { worker.withLock { state in state.backlog = backlog } }
        note(backlog)
        // One lane is enough for less: a step has a fixed cost however little it moves.
        let isMuch = !backlog.isLevel && backlog.events >= configuration.much
        guard isMuch || lane == 0 else { return configuration.pace }
        guard !backlog.isLevel else { return configuration.interval }
        let next = Deadline.after(seconds: configuration.pace)
        let (share, most) = (backlog.share(of: isMuch ? configuration.lanes : 1), stepper.mostEvents)
        switch try stepper.step(upTo: backlog.head, mostShards: share, on: &connection) {
        case .nothing: return configuration.interval
        case .moved(let moved):
            steps.add(1)
            events.add(Int(moved))
            let left = backlog.events - moved
            if moved >= most / 2 || !isMuch && left >= configuration.few { return 0 }
            if backlog.events >= configuration.few { return next.secondsLeft }
            return left > 0 ? configuration.interval : configuration.gathering
        }
    }

    /// The projections that need a rebuild, as last seen.
    var due: [String] { worker.withLock { state in state.due } }

    /// Whether only a few events are new, as last seen.
    var isIdle: Bool { worker.withLock { state in state.backlog.map { $0.events < configuration.few } ?? false } }

    var isStopping: Bool { worker.isStopping }
    func rest(_ seconds: Double) { worker.rest(seconds) }
}
