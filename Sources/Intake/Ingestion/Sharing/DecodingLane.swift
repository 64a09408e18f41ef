internal import HTTPServer
internal import ServiceRuntime

/// A thread that unpacks and decodes bodies, with the apps taking turns.
final class DecodingLane: Sendable {
    struct Job: Sendable {
        let app: Int32
        /// The size of the body as received.
        let bytes: Int
        /// Less than the time in which a route must decide, so that the answer is ours.
        let deadline: Deadline
        let work: @Sendable () -> Void
        /// Called instead of `work` if that will not be done.
        let refuse: @Sendable (Problem) -> Void
    }

    private struct State {
        var jobs = Turns<Job>()
        var requests: SharedRoom
        var bytes: SharedRoom
        var isStopping = false
        var thread: Worker?
    }

    private let name: String
    private let niceness: Int
    private let state: Lock<State>

    init(name: String, niceness: Int, mostRequests: Int, mostBytes: Int) {
        self.name = name
        self.niceness = niceness
        state = Lock(State(requests: SharedRoom(mostRequests), bytes: SharedRoom(mostBytes)))
    }

    /// Requests that wait.
    var waiting: Int { state.withLock { $0.requests.used } }

    /// Queues a job, or refuses it at once.
    func submit(_ job: Job) {
        let refusal: Problem? = state.withLockNotifying { state in
            guard !state.isStopping else { return Problem(RequestFault.draining) }
            guard state.requests.take(1, of: job.app) else { return Self.tooMuch }
            guard state.bytes.take(job.bytes, of: job.app) else {
                state.requests.give(1, of: job.app)
                return Self.tooMuch
            }
            state.jobs.append(job, of: job.app)
            return nil
        }
        if let refusal { job.refuse(refusal) }
    }

    func start() {
        let thread = Worker(name: name, niceness: niceness) { self.run() }
        state.withLock { state in state.thread = thread }
    }

    /// Refuses the jobs that wait, then ends. Refuses new jobs from now on.
    func stop() {
        state.withLockNotifying { state in state.isStopping = true }
        state.withLock { state in state.thread }?.join()
        while let job = state.withLock({ state in Self.take(&state) }) { job.refuse(Problem(RequestFault.draining)) }
    }

    private func run() {
        while let job = nextJob() {
            if job.deadline.hasPassed { job.refuse(Self.tooMuch) } else { job.work() }
        }
    }

    /// Nil when the thread must end.
    private func nextJob() -> Job? {
        state.wait { state in
            if state.isStopping { return .some(nil) }
            return Self.take(&state).map { .some($0) }
        }
    }

    private static func take(_ state: inout State) -> Job? {
        guard let job = state.jobs.next() else { return nil }
        state.requests.give(1, of: job.app)
        state.bytes.give(job.bytes, of: job.app)
        return job
    }

    private static var tooMuch: Problem {
        Problem(
            .overloaded, "Too many requests of this app are waiting. Send it again, unchanged, and more slowly.",
            retryAfter: 2)
    }
}
