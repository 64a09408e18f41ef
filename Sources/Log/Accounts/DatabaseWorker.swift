package import ServiceRuntime

/// Threads that work on the database until they are asked to stop, and the state that they share with their callers.
///
/// Each thread runs `keep`: it connects, works, and after a failure it waits, longer each time, and connects again.
/// `next` hands out the work, and lets a stopping worker finish what it accepted before.
package final class DatabaseWorker<State: Sendable>: Sendable {
    /// Whether new work would be done.
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

    /// Starts a thread for each name, and passes its number to `body`.
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

    /// Waits until the threads have ended; returns false if they have not by the deadline.
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

    /// Connects and works until the worker stops. `work` returns when it is finished with its session. `connect`
    /// returns nil if now is not the time. `work` resets the backoff after a success.
    ///
    /// `failed` is called after each failure, before the wait, and is told whether the failure is new.
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

    /// Work that arrives from now on will be done. Returns whether this is a change.
    @discardableResult
    package func goOn() -> Bool {
        shared.withLock { shared in
            defer { shared.isAway = false }
            return shared.isAway
        }
    }

    /// The connection is lost, and nobody needs to wait for it. Returns whether this is a change.
    @discardableResult
    package func goAway() -> Bool {
        shared.withLock { shared in
            defer { shared.isAway = true }
            return !shared.isAway
        }
    }

    /// Waits until `take` finds something and returns that. Returns nil at the deadline, or when the worker stops and
    /// nothing is left.
    package func next<Work: Sendable>(
        by deadline: Deadline = .never, _ take: (inout State) -> Work?
    ) -> Work? {
        let found: Work?? = shared.wait(until: deadline) { shared in
            if let work = take(&shared.state) { return .some(work) }
            return shared.isStopping ? .some(nil) : nil
        }
        return found ?? nil
    }

    /// Waits, but not longer than until the worker stops.
    package func rest(_ seconds: Double) {
        guard seconds > 0 else { return }
        let _: Never? = next(by: .after(seconds: seconds)) { _ in nil }
    }
}
