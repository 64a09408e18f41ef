internal import Accounts
internal import Postgres
internal import Reports
package import ServiceRuntime
internal import Values

/// The threads that ask the database for pages: so many at once and no more, each with a session of the analysts' role
/// whose statements end in time. What waits for them is bounded, too.
package final class Readers: Sendable {
    package struct Configuration: Sendable {
        /// How many pages are read at once.
        package var sessions = 4
        package var mostWaiting = 24
        /// A statement that takes longer is cancelled.
        package var statementSeconds = 8
        /// From the request to its answer. Less than the server's own patience, so that the answer is ours.
        package var secondsPerPage = 12.0

        package init() {}
    }

    /// Why a page was not read.
    enum Refusal: Error, Sendable {
        /// Too many are waiting already.
        case busy
        /// The database cannot be reached.
        case away
        /// It took too long.
        case slow(seconds: Int)
        case failed(PostgresError)
        case stopping
    }

    private struct Job: Sendable {
        /// Whether a session broke under it: one that broke while idle fails only now, and then a new one is tried.
        var isTriedAgain = false
        let deadline: Deadline
        let reading: Reading
        /// The apps that it may read; nil for all.
        let apps: [String]?
        let work: @Sendable (inout Connection) throws -> Void
        let refuse: @Sendable (Refusal) -> Void
    }

    private let worker = DatabaseWorker([Job]())
    private let url: String
    private let configuration: Configuration
    private let log: Log

    package init(url: String, _ configuration: Configuration = Configuration(), log: Log) {
        (self.url, self.configuration, self.log) = (url, configuration, log)
    }

    /// Queues work. It leads to one call of `work`, which answers, or of `refuse`, or to neither if it is cancelled.
    func submit(
        _ reading: Reading = Reading(), of apps: [String]? = nil,
        _ work: @escaping @Sendable (inout Connection) throws -> Void, refuse: @escaping @Sendable (Refusal) -> Void
    ) {
        let job = Job(
            deadline: .after(seconds: configuration.secondsPerPage), reading: reading, apps: apps, work: work,
            refuse: refuse)
        let refusal: Refusal? = worker.notify { [most = configuration.mostWaiting] jobs, readiness in
            if readiness == .stopping { return .stopping }
            guard jobs.count < most else { return .busy }
            jobs.append(job)
            return nil
        }
        if let refusal { refuse(refusal) }
    }

    package func start() {
        worker.start((1...configuration.sessions).map { "look \($0)" }) { _ in self.run() }
    }

    package func stop() {
        worker.stop()
        while let job = worker.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job.refuse(.stopping) }
    }

    /// Connects when there is work, so that an idle page holds no session that it never used.
    private func run() {
        var job = next()
        while let current = job {
            do { job = try withSession(first: current) } catch {
                log.warning("look: the database session ended", ["error": "\(error)"])
                job = nil
            }
            job = job ?? next()
        }
    }

    private func next() -> Job? { worker.next { $0.isEmpty ? nil : $0.removeFirst() } }

    /// Works until there is nothing more to do, or the session breaks; returns a job that another session should try.
    private func withSession(first: Job) throws(PostgresError) -> Job? {
        var connection = try open(refusing: first)
        var eyes = SessionApps()
        var job: Job? = first
        while let current = job {
            guard !current.deadline.hasPassed else {
                current.refuse(.slow(seconds: Int(configuration.secondsPerPage)))
                job = next()
                continue
            }
            guard current.reading.begin(connection.cancelHandle()) else {
                job = next()
                continue
            }
            connection.deadline = current.deadline
            do {
                try eyes.turn(to: current.apps, on: &connection)
                try current.work(&connection)
            } catch {
                // The reader who cancelled it has an answer.
                if current.reading.end() { return nil }
                let failure = (error as? any DatabaseFailure)?.ofDatabase
                if case .connection? = failure, !current.isTriedAgain {
                    var again = current
                    again.isTriedAgain = true
                    return again
                }
                connection.deadline = .after(seconds: 1)
                connection.rollBack()
                current.refuse(refusal(failure))
            }
            connection.deadline = .never
            guard !current.reading.end(), connection.isUsable else { return nil }
            job = next()
        }
        return nil
    }

    private func open(refusing job: Job) throws(PostgresError) -> Connection {
        do {
            var connection = try LogSession.open(
                url: url, role: .analyst, purpose: "look", log: log, statementSeconds: configuration.statementSeconds)
            try connection.execute(script: "SET default_transaction_read_only = on")
            return connection
        } catch {
            job.refuse(error.isUnavailable ? .away : .failed(error))
            throw error
        }
    }

    private func refusal(_ error: PostgresError?) -> Refusal {
        guard let error else { return .busy }
        if error.state == .queryCanceled { return .slow(seconds: configuration.statementSeconds) }
        if case .timedOut = error { return .slow(seconds: Int(configuration.secondsPerPage)) }
        log.warning("look: a page could not be read", ["error": "\(error)"])
        return error.isUnavailable ? .away : .failed(error)
    }
}
