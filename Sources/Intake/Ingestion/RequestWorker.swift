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
        /// How many jobs may wait to run again, and how often they do.
        package var mostPatientJobs = 32
        package var secondsBetweenRuns = 0.25
        /// After a job that ran again in vain, none does for so long: whom they wait for is busy, or not there.
        package var secondsWithoutHope = 60.0

        package init() {}
    }

    /// The work for one request. It may run again on another connection, so running it twice must be harmless.
    package typealias Work = @Sendable (inout Connection) throws(PostgresError) -> Response

    private struct Job: Sendable {
        let app: Int32
        /// Every job counts, even one without bytes.
        let bytes: Int
        let deadline: Deadline
        /// Until then it runs again while it answers 202; nil if it does not.
        let patience: Deadline?
        let work: Work
        /// Called once, on the request worker's thread.
        let answer: @Sendable (Response) -> Void
        /// What `work` returned when it ran before, and when it runs again.
        var earlier: (response: Response, next: Deadline)?

        /// Whether it is time to run it again: others come first, while its patience lasts.
        func isDue(_ othersWait: Bool) -> Bool {
            guard let next = earlier?.next, let patience else { return true }
            return next.hasPassed && (!othersWait || patience.hasPassed)
        }
    }

    private struct State: Sendable {
        var queue = Turns<Job>()
        /// Those that run again, the next one first. They count no more among those that wait.
        var patient: [Job] = []
        /// Until then no job runs again.
        var hopeless = Deadline.now
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
    /// queued; otherwise later, on the request worker's thread, the result of `work` or a 503. A result of 202 says that
    /// somebody else is to do something first: while `patience` (in seconds) lasts, the work is tried again instead.
    package func submit(
        of app: Int32 = 0, bytes: Int, patience: Double? = nil, _ work: @escaping Work,
        answer: @escaping @Sendable (Response) -> Void
    ) {
        let job = Job(
            app: app, bytes: max(bytes, 1), deadline: .after(seconds: configuration.secondsPerJob),
            patience: patience.map { .after(seconds: min($0, configuration.secondsPerJob)) }, work: work, answer: answer
        )
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
        while let job = nextJob() {
            guard !job.deadline.hasPassed else {
                giveUp(job)
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
                giveUp(job)
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

    /// Waits for a job, new or to run again. Nil when the worker stops.
    private func nextJob() -> Job? {
        while true {
            let again = worker.withLock { $0.patient.first?.earlier?.next } ?? .never
            if let job = worker.next(by: again, Self.take) { return job }
            if worker.isStopping { return nil }
        }
    }

    private static func take(_ state: inout State) -> Job? {
        if state.patient.first?.isDue(!state.queue.isEmpty) == true { return state.patient.removeFirst() }
        guard let job = state.queue.next() else { return nil }
        state.jobs.give(1, of: job.app)
        return job
    }

    private func finish(_ job: Job, _ response: Response) {
        if !runsAgain(job, response) { conclude(job, response) }
    }

    private func giveUp(_ job: Job) { conclude(job, job.earlier?.response ?? Self.unavailable.response) }

    private func conclude(_ job: Job, _ response: Response) {
        worker.withLock { state in state.bytes.give(job.bytes, of: job.app) }
        job.answer(response)
    }

    private func runsAgain(_ job: Job, _ response: Response) -> Bool {
        guard response.status == 202, let patience = job.patience, !worker.isStopping else { return false }
        let next = Deadline.after(seconds: configuration.secondsBetweenRuns)
        return worker.withLock { state in
            guard state.hopeless.hasPassed else { return false }
            guard next < patience else {
                state.hopeless = .after(seconds: configuration.secondsWithoutHope)
                return false
            }
            guard state.patient.count < configuration.mostPatientJobs else { return false }
            var again = job
            again.earlier = (response, next)
            state.patient.append(again)
            return true
        }
    }

    private func turnAway() {
        let patient = worker.withLock { state in
            defer { state.patient = [] }
            return state.patient
        }
        patient.forEach(giveUp)
        while let job = worker.withLock(Self.take) { giveUp(job) }
    }

    private static var unavailable: Problem {
        Problem(.unavailable, "It was not stored. Send it again, unchanged.", retryAfter: 2)
    }
}
