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

    private struct State {
        var queue = Turns<Job>()
        /// The jobs that wait.
        var jobs: SharedRoom
        /// What they hold, and the one that is being done.
        var bytes: SharedRoom
        var isAway = true
        var isStopping = false
        var thread: Worker?
    }

    private let state: Lock<State>
    private let url: String
    private let configuration: Configuration
    private let log: Log

    package init(url: String, _ configuration: Configuration = Configuration(), log: Log) {
        self.url = url
        self.configuration = configuration
        self.log = log
        state = Lock(
            State(
                jobs: SharedRoom(configuration.mostJobs), bytes: SharedRoom(configuration.mostQueuedBytes)))
    }

    /// Whether it has its connection.
    package var isConnected: Bool { state.withLock { state in !state.isAway } }

    /// Takes a job of an app that holds so many bytes. Leads to one `answer`: at once with a 503 if it cannot be taken, else later,
    /// on the request worker's thread, with what `work` gave or a 503.
    package func submit(
        of app: Int32 = 0, bytes: Int, _ work: @escaping Work, answer: @escaping @Sendable (Response) -> Void
    ) {
        let job = Job(
            app: app, bytes: max(bytes, 1), deadline: .after(seconds: configuration.secondsPerJob), work: work,
            answer: answer)
        let refusal: Problem? = state.withLockNotifying { state in
            if state.isStopping { return Problem(RequestFault.draining) }
            if state.isAway { return Self.unavailable }
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
        let thread = Worker(name: "request-worker") { self.run() }
        state.withLock { state in state.thread = thread }
    }

    /// Does what waits, then ends. New jobs are refused from now on.
    package func stop() {
        state.withLockNotifying { state in state.isStopping = true }
        state.withLock { state in state.thread }?.join()
    }

    private func run() {
        var backoff = Backoff(first: 0.05, most: 2)
        while true {
            do throws(PostgresError) {
                var connection = try connect()
                state.withLock { state in state.isAway = false }
                backoff.reset()
                guard let lost = serve(&connection) else { break }
                throw lost
            } catch {
                goAway(error)
                let isTimeToEnd = state.wait(until: .after(seconds: backoff.next())) { $0.isStopping ? true : nil }
                if isTimeToEnd != nil { break }
            }
        }
        // Whatever is left came too late: nothing is promised.
        turnAway()
    }

    private func connect() throws(PostgresError) -> Connection {
        try LogSession.open(
            url: url, role: .ingest, purpose: "request worker", log: log,
            statementSeconds: max(1, Int(saturating: configuration.secondsPerJob)))
    }

    /// Does jobs until it is time to end, which gives nil, or the database is away.
    private func serve(_ connection: inout Connection) -> PostgresError? {
        while let job = nextJob() {
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
                if error.isUnavailable { state.withLock { state in state.isAway = true } }
                finish(job, Self.unavailable.response)
                if error.isUnavailable || !connection.isUsable { return error }
            }
        }
        return nil
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

    /// Nil when it is time to end.
    private func nextJob() -> Job? {
        state.wait { state in
            if let job = Self.take(&state) { return .some(job) }
            return state.isStopping ? .some(nil) : nil
        }
    }

    private static func take(_ state: inout State) -> Job? {
        guard let job = state.queue.next() else { return nil }
        state.jobs.give(1, of: job.app)
        return job
    }

    private func finish(_ job: Job, _ response: Response) {
        state.withLock { state in state.bytes.give(job.bytes, of: job.app) }
        job.answer(response)
    }

    /// Turns everybody away until there is a connection again.
    private func goAway(_ error: PostgresError) {
        let wasThere = state.withLock { state in
            defer { state.isAway = true }
            return !state.isAway
        }
        if wasThere {
            log.error(
                "the request worker lost its database connection and is trying to reconnect", ["error": "\(error)"])
        }
        turnAway()
    }

    private func turnAway() {
        while let job = state.withLock({ state in Self.take(&state) }) { finish(job, Self.unavailable.response) }
    }

    private static var unavailable: Problem {
        Problem(.unavailable, "It was not stored. Send it again, unchanged.", retryAfter: 2)
    }
}
