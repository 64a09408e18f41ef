internal import Accounts
internal import EventLog
package import HTTPServer
package import Postgres
package import ServiceRuntime

/// Does the SQL of routes with little traffic: one thread, one connection, one job after another, of each app in its turn,
/// and a queue with an end. A job that cannot be done now is answered 503 at once or by its deadline, and never waits for a database that is
/// away.
package final class RequestWorker: Sendable {
    package struct Configuration: Sendable {
        /// Jobs that may wait, and the bytes of what they hold, shared by apps as `SharedRoom` says; beyond it requests are
        /// turned away.
        package var mostJobs = 256
        package var mostQueuedBytes = 16 * 1024 * 1024
        /// From being handed in until the answer. Under the time in which a route must have decided, so that it is ours.
        package var secondsPerJob = 10.0

        package init() {}
    }

    /// What is done for one request. It may be run once more on another connection, so doing it twice must be harmless.
    package typealias Work = @Sendable (inout Connection) throws(PostgresError) -> Response

    private struct Job: Sendable {
        let app: Int32
        /// Every job counts, also one without bytes.
        let bytes: Int
        let deadline: Deadline
        let work: Work
        /// Called once, on the request worker's thread.
        let answer: @Sendable (Response) -> Void
    }

    private struct State: Sendable {
        var queue = Turns<Job>()
        /// The jobs that wait.
        var jobs: SharedRoom
        /// What they hold, and the one that is being done.
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

    /// Takes a job of an app that holds so many bytes. Leads to one `answer`: at once with a 503 if it cannot be taken, else later,
    /// on the request worker's thread, with what `work` gave or a 503.
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

    /// Does what waits, then ends. New jobs are refused from now on.
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
        // Whatever is left came too late: nothing is promised.
        turnAway()
    }

    private func connect() throws(PostgresError) -> Connection {
        try LogSession.open(
            url: url, role: .ingest, purpose: "request worker", log: log,
            statementSeconds: max(1, Int(saturating: configuration.secondsPerJob)))
    }

    /// Does jobs until it is time to stop or the database is away.
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
                // A client that waits for the reconnection as well would wait too long.
                if error.isUnavailable { worker.goAway() }
                finish(job, Self.unavailable.response)
                if error.isUnavailable || !connection.isUsable { throw error }
            }
        }
    }

    /// A connection that had died while nobody used it shows only now: then the job is tried once more on a new one.
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
