internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// One thread, one connection, one commit at a time.
final class Writer: Sendable {
    enum Readiness { case ready, away, stopping }

    private struct State {
        var queue = Turns<GroupCommit.Part>()
        var isAway = true
        var isStopping = false
        var thread: Worker?
    }

    private let state = Lock(State())
    private let number: Int
    private let mostRows: Int
    private let configuration: Appender.Configuration
    private let allowance: RejectedAllowance
    private let months: PartitionRequests
    private let log: Log
    private let metrics: IngestionMetrics
    private let release: @Sendable (GroupCommit.Part) -> Void

    init(
        number: Int, mostRows: Int, appender: Appender.Configuration, allowance: RejectedAllowance,
        months: PartitionRequests, log: Log, metrics: IngestionMetrics,
        release: @escaping @Sendable (GroupCommit.Part) -> Void
    ) {
        self.number = number
        self.mostRows = mostRows
        configuration = appender
        self.allowance = allowance
        self.months = months
        self.log = log
        self.metrics = metrics
        self.release = release
    }

    var readiness: Readiness {
        state.withLock { state in state.isStopping ? .stopping : state.isAway ? .away : .ready }
    }

    func enqueue(_ part: GroupCommit.Part) {
        state.withLockNotifying { state in state.queue.append(part, of: part.submission.app) }
    }

    func start() {
        let thread = Worker(name: "writer-\(number)") { self.run() }
        state.withLock { state in state.thread = thread }
    }

    func askToStop() {
        state.withLockNotifying { state in state.isStopping = true }
    }

    func join() {
        state.withLock { state in state.thread }?.join()
    }

    private func run() {
        let appender = Appender(configuration, allowance: allowance, months: months, log: log)
        var backoff = Backoff(first: 0.05, most: 5)
        while true {
            do {
                try appender.connect()
                if state.withLock({ state in state.isAway }) { log.info("writer \(number) is connected") }
                state.withLock { state in state.isAway = false }
            } catch {
                goAway(error)
                if !rest(backoff.next()) { break }
                continue
            }
            guard let parts = nextBatch() else { break }
            if let failure = commit(parts, with: appender) {
                // A full disk or a server without free memory leaves the connection alone: only time helps.
                goAway(failure)
                if !rest(backoff.next()) { break }
            } else {
                backoff.reset()
            }
        }
        // Whatever is left came too late: nothing is promised.
        giveUp(state.withLock { state in take(&state, most: .max) })
    }

    /// What has gathered, once something has; nil when it is time to end.
    private func nextBatch() -> [GroupCommit.Part]? {
        state.wait { [self] state in
            if !state.queue.isEmpty { return .some(take(&state, most: mostRows)) }
            return state.isStopping ? .some(nil) : nil
        }
    }

    /// What fits into one commit, of all apps by turns.
    private func take(_ state: inout State, most: Int) -> [GroupCommit.Part] {
        var rows = 0
        var taken: [GroupCommit.Part] = []
        while let part = state.queue.first, taken.isEmpty || rows + part.rows <= most {
            rows += part.rows
            taken.append(part)
            _ = state.queue.next()
        }
        return taken
    }

    /// Gives what stood in the way, when it is the database that is away.
    private func commit(_ parts: [GroupCommit.Part], with appender: Appender) -> PostgresError? {
        let began = Deadline.now
        do {
            let verdicts = try append(parts.map(\.submission), with: appender)
            metrics.commitSeconds.observe(Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9)
            metrics.batchEvents.observe(Double(appender.lastBatch?.events ?? 0))
            CrashPoint.pass("committed")
            for (part, verdicts) in zip(parts, verdicts) {
                release(part)
                part.finish(verdicts.map { .committed($0) } ?? .keyClosed)
                CrashPoint.pass("answered")
            }
            return nil
        } catch {
            metrics.failedCommits.add()
            log.error(
                "a batch was not committed; its clients are told to try again",
                ["error": "\(error)", "requests": "\(parts.count)"])
            giveUp(parts)
            return error.isUnavailable ? error : nil
        }
    }

    /// A connection that had died while nobody used it shows only now: then the batch is tried once more on a new one.
    /// What the first attempt may have committed after all, the second one finds.
    private func append(_ submissions: [Submission], with appender: Appender) throws(PostgresError) -> [Verdicts?] {
        do { return try appender.appendWithOpenKeys(submissions) } catch {
            guard case .connection = error else { throw error }
            return try appender.appendWithOpenKeys(submissions)
        }
    }

    /// Turns everybody away until there is a connection again.
    private func goAway(_ error: PostgresError) {
        let (wasThere, parts) = state.withLock { state in
            defer { state.isAway = true }
            return (!state.isAway, take(&state, most: .max))
        }
        if wasThere {
            log.error("writer \(number) lost its database connection and is trying to reconnect", ["error": "\(error)"])
        }
        giveUp(parts)
    }

    private func giveUp(_ parts: [GroupCommit.Part]) {
        for part in parts {
            release(part)
            part.finish(.lost)
        }
    }

    /// Waits before the next attempt; false when it is time to end instead.
    private func rest(_ seconds: Double) -> Bool {
        state.wait(until: .after(seconds: seconds)) { state in state.isStopping ? true : nil } == nil
    }
}
