internal import Accounts
internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// One thread, one connection, one commit at a time.
final class Writer: Sendable {
    private let worker = DatabaseWorker(Turns<GroupCommit.Part>())
    private let number: Int
    private let mostRows: Int
    private let configuration: Appender.Configuration
    private let allowance: RejectedAllowance
    private let months: PartitionRequests
    private let log: Log
    private let metrics: IngestionMetrics
    private let watch: PhaseWatch<CommitPhase>
    /// Since when something waits; nil if nothing does.
    private let waitingSince = Lock<Deadline?>(nil)
    private let learned: @Sendable (Int64) -> Void
    private let release: @Sendable (GroupCommit.Part) -> Void

    init(
        number: Int, mostRows: Int, appender: Appender.Configuration, allowance: RejectedAllowance,
        months: PartitionRequests, log: Log, metrics: IngestionMetrics, watch: PhaseWatch<CommitPhase>,
        learned: @escaping @Sendable (Int64) -> Void,
        release: @escaping @Sendable (GroupCommit.Part) -> Void
    ) {
        self.number = number
        self.mostRows = mostRows
        configuration = appender
        self.allowance = allowance
        self.months = months
        self.log = log
        self.metrics = metrics
        self.watch = watch
        self.learned = learned
        self.release = release
    }

    var readiness: DatabaseWorker<Turns<GroupCommit.Part>>.Readiness { worker.readiness }

    func enqueue(_ part: GroupCommit.Part) {
        // The writer of a cell that left the cluster may stop at any moment.
        let isQueued = worker.notify { queue, readiness in
            if readiness == .stopping { return false }
            if queue.isEmpty { waitingSince.withLock { $0 = .now } }
            queue.append(part, of: part.submission.app)
            return true
        }
        if !isQueued { giveUp([part]) }
    }

    func start() { worker.start(["writer-\(number)"]) { _ in self.run() } }
    func askToStop() { worker.askToStop() }
    func join() { worker.join() }

    private func run() {
        let appender = Appender(configuration, allowance: allowance, months: months, log: log, watch: watch)
        worker.keep(Backoff(first: 0.05, most: 5)) { () throws(PostgresError) in
            try appender.connect()
            return appender
        } work: { appender, backoff throws(PostgresError) in
            if worker.goOn() { log.info("writer \(number) is connected") }
            while let parts = worker.next({ queue in queue.isEmpty ? nil : take(&queue, most: mostRows) }) {
                try commit(parts, with: appender)
                backoff.reset()
                try appender.connect()
            }
        } failed: { error, isNews in
            if isNews {
                log.error(
                    "writer \(number) lost its database connection and is trying to reconnect", ["error": "\(error)"])
            }
            giveUp(worker.withLock { queue in take(&queue, most: .max) })
        }
        // The remaining parts are too late; nothing of them was stored.
        giveUp(worker.withLock { queue in take(&queue, most: .max) })
    }

    /// Takes what fits into one commit, with the apps taking turns.
    private func take(_ queue: inout Turns<GroupCommit.Part>, most: Int) -> [GroupCommit.Part] {
        var rows = 0
        var taken: [GroupCommit.Part] = []
        while let part = queue.first, taken.isEmpty || rows + part.rows <= most {
            rows += part.rows
            taken.append(part)
            _ = queue.next()
        }
        return taken
    }

    /// Throws if only time helps: the database is away, its disk is full, its memory is used up.
    private func commit(_ parts: [GroupCommit.Part], with appender: Appender) throws(PostgresError) {
        let began = Deadline.now
        if let since = waitedSince(until: began) { watch.add(max(0, began.seconds(since: since)), to: .wait) }
        do {
            let epoch = appender.epoch
            let settlements = try append(parts.map(\.submission), with: appender)
            metrics.commitSeconds.observe(Deadline.now.seconds(since: began))
            metrics.batchEvents.observe(Double(appender.lastBatch?.events ?? 0))
            CrashPoint.pass("committed")
            var isToldOfMap = appender.epoch > epoch
            for (part, settlement) in zip(parts, settlements) {
                release(part)
                switch settlement {
                case .settled(let verdicts): part.finish(.committed(verdicts))
                case .keyClosed: part.finish(.keyClosed)
                case .elsewhere:
                    isToldOfMap = true
                    part.finish(.elsewhere)
                }
                CrashPoint.pass("answered")
            }
            if isToldOfMap { learned(appender.epoch) }
        } catch {
            metrics.failedCommits.add()
            log.error(
                "a batch was not committed; its clients are told to try again",
                ["error": "\(error)", "requests": "\(parts.count)"])
            giveUp(parts)
            if error.isUnavailable { throw error }
        }
    }

    /// A connection that broke while idle fails only now; then the batch runs once more on a new one. If the first
    /// attempt committed after all, the second one finds its events.
    private func append(_ submissions: [Submission], with appender: Appender) throws(PostgresError) -> [Settlement] {
        defer { watch.end() }
        do { return try appender.append(submissions, checking: [.keys, .place]) } catch {
            guard case .connection = error else { throw error }
            return try appender.append(submissions, checking: [.keys, .place])
        }
    }

    /// Since when something has waited that is taken now. What could not be taken yet waits from now on.
    private func waitedSince(until now: Deadline) -> Deadline? {
        let isEmpty = worker.withLock { $0.isEmpty }
        return waitingSince.withLock { since in
            defer { since = isEmpty ? nil : now }
            return since
        }
    }

    private func giveUp(_ parts: [GroupCommit.Part]) {
        for part in parts {
            release(part)
            part.finish(.lost)
        }
    }
}
