package import ServiceRuntime

/// Threads that work on the database until they are asked to stop, and the state that they share with those who ask them.
///
/// `keep` is how each of them lives: it connects, works, and after a failure it waits, longer each time, and connects again.
/// `next` gives out the work, and lets a worker that stops finish what was accepted before.
package final class DatabaseWorker<State: Sendable>: Sendable {
    /// Whether work that is handed in now would be done.
    package enum Readiness: Sendable { case ready, away, stopping }

    private struct Shared: Sendable {
        var state: State
        var isAway = true
        var isStopping = false
        var threads: [Worker] = []
        /// Threads that have not ended.
        var running = 0

        var readiness: Readiness { isStopping ? .stopping : isAway ? .away : .ready }
    }

    private let shared: Lock<Shared>

    package init(_ state: State) {
        shared = Lock(Shared(state: state))
    }

    package var readiness: Readiness { shared.withLock { shared in shared.readiness } }
    package var isStopping: Bool { shared.withLock { shared in shared.isStopping } }

    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        shared.withLock { shared in body(&shared.state) }
    }

    /// Changes the state and wakes the threads.
    @discardableResult
    package func notify<Result: Sendable>(_ body: (inout State, Readiness) -> Result) -> Result {
        shared.withLockNotifying { shared in body(&shared.state, shared.readiness) }
    }

    // MARK: Starting and stopping

    /// Starts a thread for each name. `body` is told its number.
    package func start(_ names: [String], _ body: @escaping @Sendable (Int) -> Void) {
        shared.withLock { shared in shared.running = names.count }
        let threads = names.enumerated().map { number, name in
            Worker(name: name) {
                body(number)
                self.shared.withLockNotifying { shared in shared.running -= 1 }
            }
        }
        shared.withLock { shared in shared.threads = threads }
    }

    package func askToStop() { shared.withLockNotifying { shared in shared.isStopping = true } }

    /// Waits until the threads have ended; false when they have not by then.
    package func hasEnded(by deadline: Deadline) -> Bool {
        shared.wait(until: deadline) { shared in shared.running == 0 ? true : nil } ?? false
    }

    package func join() {
        for thread in shared.withLock({ shared in shared.threads }) { thread.join() }
    }

    package func stop() {
        askToStop()
        join()
    }

    // MARK: On its threads

    /// Connects and works until it is time to stop. `work` returns when it has nothing more to do with its session.
    /// `connect` gives nil when now is not the time. Whoever works resets the backoff once something has succeeded.
    ///
    /// `failed` is called after each failure, before the wait; it is told whether this is news.
    package func keep<Session: ~Copyable, Failure: Error>(
        _ backoff: Backoff, connect: () throws(Failure) -> Session?,
        work: (inout Session, inout Backoff) throws(Failure) -> Void, failed: (Failure, _ isNews: Bool) -> Void
    ) {
        var backoff = backoff
        while !isStopping {
            do throws(Failure) {
                guard var session = try connect() else { continue }
                try work(&session, &backoff)
            } catch {
                failed(error, goAway())
                rest(backoff.next())
            }
        }
    }

    /// Work that is handed in from now on will be done; says whether it would not have been before.
    @discardableResult
    package func goOn() -> Bool {
        shared.withLock { shared in
            defer { shared.isAway = false }
            return shared.isAway
        }
    }

    /// Nobody needs to wait for a connection any more that is gone; says whether it was there.
    @discardableResult
    package func goAway() -> Bool {
        shared.withLock { shared in
            defer { shared.isAway = true }
            return !shared.isAway
        }
    }

    /// What `take` finds, as soon as it finds something; nil when it is time to stop and nothing is left, or at the deadline.
    package func next<Work: Sendable>(
        by deadline: Deadline = .never, _ take: (inout State) -> Work?
    ) -> Work? {
        let found: Work?? = shared.wait(until: deadline) { shared in
            if let work = take(&shared.state) { return .some(work) }
            return shared.isStopping ? .some(nil) : nil
        }
        return found ?? nil
    }

    /// Waits, but no longer than until it is time to stop.
    package func rest(_ seconds: Double) {
        guard seconds > 0 else { return }
        let _: Never? = next(by: .after(seconds: seconds)) { _ in nil }
    }
}
