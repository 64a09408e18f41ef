internal import Accounts
internal import EventLog
package import HTTPServer
package import Postgres
package import ServiceRuntime

/// Runs the SQL of routes with little traffic: one thread, one connection, one job after another, apps taking turns,
/// and a bounded queue. A job that cannot be done now is answered 503 at once or by its deadline; it never waits for a
/// database that is away.
package final class RequestWorker: Sendable {
    package struct Configuration: Sendable {
        /// How many jobs, and how many bytes of theirs, may wait, shared by apps as `SharedRoom` says; beyond it
        /// requests are refused.
        package var mostJobs = 256
        package var mostQueuedBytes = 16 * 1024 * 1024
        /// Seconds from submitting a job to its answer. Less than the time in which a route must decide, so that the
        /// answer is ours.
        package var secondsPerJob = 10.0

        package init() {}
    }

    /// The work for one request. It may run again on another connection, so running it twice must be harmless.
    package typealias Work = @Sendable (inout Connection) throws(PostgresError) -> Response

    private struct Job: Sendable {
        let app: Int32
        /// Every job counts, even one without bytes.
        let bytes: Int
        let deadline: Deadline
        let work: Work
        /// Called once, on the request worker's thread.
        let answer: @Sendable (Response) -> Void
    }

    private struct State: Sendable {
        var queue = Turns<Job>()
        /// Counts the jobs that wait.
        var jobs: SharedRoom
        /// Counts the bytes of the jobs that wait and of the one that runs.
        var bytes: SharedRoom
    }

    private let worker: DatabaseWorker<State>
    private let url: String
    private let configuration: Configuration
    private let log: Log

    package init(url: String, _ configuration: Configuration = Configuration(), log: Log) {
        self.url = url
        self.configuration = configuration
        self.log = log
        worker = DatabaseWorker(
            State(jobs: SharedRoom(configuration.mostJobs), bytes: SharedRoom(configuration.mostQueuedBytes)))
    }

    package var isConnected: Bool { worker.readiness == .ready }

    /// Queues a job of an app with that many bytes. It leads to one `answer`: a 503 at once if the job cannot be
    /// queued; otherwise later, on the request worker's thread, the result of `work` or a 503.
    package func submit(
        of app: Int32 = 0, bytes: Int, _ work: @escaping Work, answer: @escaping @Sendable (Response) -> Void
    ) {
        let job = Job(
            app: app, bytes: max(bytes, 1), deadline: .after(seconds: configuration.secondsPerJob), work: work,
            answer: answer)
        let refusal: Problem? = worker.notify { state, readiness in
            switch readiness {
            case .stopping: return Problem(RequestFault.draining)
            case .away: return Self.unavailable
            case .ready: break
            }
            guard state.jobs.take(1, of: app) else { return Problem(RequestFault.overloaded) }
            guard state.bytes.take(job.bytes, of: app) else {
                state.jobs.give(1, of: app)
                return Problem(RequestFault.overloaded)
            }
            state.queue.append(job, of: app)
            return nil
        }
        if let refusal { answer(refusal.response) }
    }

    package func start() {
        worker.start(["request-worker"]) { _ in self.run() }
    }

    /// Does the jobs that wait, then ends. Refuses new jobs from now on.
    package func stop() { worker.stop() }

    private func run() {
        worker.keep(Backoff(first: 0.05, most: 2), connect: connect) { connection, backoff throws(PostgresError) in
            worker.goOn()
            backoff.reset()
            try serve(&connection)
        } failed: { error, isNews in
            if isNews {
                log.error(
                    "the request worker lost its database connection and is trying to reconnect", ["error": "\(error)"])
            }
            turnAway()
        }
        // The remaining jobs are too late; nothing of them was done.
        turnAway()
    }

    private func connect() throws(PostgresError) -> Connection {
        try LogSession.open(
            url: url, role: .ingest, purpose: "request worker", log: log,
            statementSeconds: max(1, Int(saturating: configuration.secondsPerJob)))
    }

    /// Does jobs until the worker stops or the database is away.
    private func serve(_ connection: inout Connection) throws(PostgresError) {
        while let job = worker.next(Self.take) {
            guard !job.deadline.hasPassed else {
                finish(job, Self.unavailable.response)
                continue
            }
            do {
                finish(job, try perform(job, on: &connection))
            } catch {
                if error.state == .keyClosed {
                    finish(job, Problem.closedKey.response)
                    continue
                }
                log.error("a request failed; the client is told to try again", ["error": "\(error)"])
                // A client that also waited for the reconnection would wait too long.
                if error.isUnavailable { worker.goAway() }
                finish(job, Self.unavailable.response)
                // A server that became read-only is the old primary: look for the new one.
                if error.isUnavailable || !connection.isUsable || error.state == .readOnlyTransaction { throw error }
            }
        }
    }

    /// A connection that broke while idle fails only now; then the job runs once more on a new one.
    private func perform(_ job: Job, on connection: inout Connection) throws(PostgresError) -> Response {
        do { return try run(job, on: &connection) } catch {
            guard case .connection = error else { throw error }
            connection = try connect()
            return try run(job, on: &connection)
        }
    }

    private func run(_ job: Job, on connection: inout Connection) throws(PostgresError) -> Response {
        connection.deadline = job.deadline
        defer { connection.deadline = .never }
        do { return try job.work(&connection) } catch {
            connection.deadline = .after(seconds: 1)
            connection.rollBack()
            throw error
        }
    }

    private static func take(_ state: inout State) -> Job? {
        guard let job = state.queue.next() else { return nil }
        state.jobs.give(1, of: job.app)
        return job
    }

    private func finish(_ job: Job, _ response: Response) {
        worker.withLock { state in state.bytes.give(job.bytes, of: job.app) }
        job.answer(response)
    }

    private func turnAway() {
        while let job = worker.withLock(Self.take) { finish(job, Self.unavailable.response) }
    }

    private static var unavailable: Problem {
        Problem(.unavailable, "It was not stored. Send it again, unchanged.", retryAfter: 2)
    }
}
