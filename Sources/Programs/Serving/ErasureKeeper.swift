internal import Accounts
internal import EventLog
internal import Postgres
internal import Removal
internal import ServiceRuntime
internal import Values

/// Erases the installs that an app's servers ask to erase, one after another, if the process is logged in as the owner.
/// Otherwise it tells who can: no login of a service may delete events.
final class ErasureKeeper: Sendable {
    private let worker = DatabaseWorker(ErasureRequest.Backlog(count: 0, oldest: nil, fault: nil))
    private let erasures: RequestedErasures
    private let url: String
    private let log: Log
    private let isWell: @Sendable () -> Bool

    /// The longest pause after an erasure: as long as it took, so that a flood of requests leaves the database half of
    /// its time.
    private static let longestRest = 30.0

    /// `isWell` says whether the database fits this program.
    init(url: String, metrics: Metrics, log: Log, isWell: @escaping @Sendable () -> Bool) {
        (self.url, self.log, self.isWell) = (url, log, isWell)
        erasures = RequestedErasures(url: url, log: log)
        let state = worker
        metrics.gauge("bellwether_erasures_waiting", "Installs that wait to be erased.") {
            Double(state.withLock { $0.count })
        }
        metrics.gauge(
            "bellwether_erasure_waiting_seconds", "How long the install waits that has waited longest; 0 if none does."
        ) {
            state.withLock { $0.oldest }.map { max(0, Double(WallClock.now - $0) / 1e6) } ?? 0
        }
    }

    func start() { worker.start(["erasures"]) { _ in self.run() } }

    /// Begins no other, and interrupts the one that runs: it is begun anew by the next process.
    func askToStop() {
        worker.askToStop()
        erasures.cancel()
    }

    /// Does not wait for a database that hangs: it rolls back when this process ends.
    func stop() {
        askToStop()
        if worker.hasEnded(by: .after(seconds: 5)) { worker.join() }
    }

    private func run() {
        worker.keep(Backoff(first: 1, most: 30)) { () throws(any Error) -> Connection? in
            guard isWell() else {
                worker.rest(0.5)
                return nil
            }
            return try erasures.open()
        } work: { connection, backoff throws(any Error) in
            var told = false
            while !worker.isStopping, isWell() {
                connection.deadline = .after(seconds: 30)
                let backlog = try ErasureRequest.backlog(on: &connection)
                worker.withLock { $0 = backlog }
                backoff.reset()
                guard backlog.count > 0 else {
                    worker.rest(1)
                    continue
                }
                let began = Deadline.now
                connection.deadline = .never
                switch try erasures.performNext(notTriedSince: WallClock.now + -60_000_000, on: &connection) {
                case .notOwner:
                    if !told {
                        log.warning(
                            "installs wait to be erased: run bellwether erase --requested as the owner, "
                                + "this login may not",
                            ["waiting": "\(backlog.count)"])
                    }
                    told = true
                    worker.rest(10)
                case .nothing: worker.rest(1)
                case .erased(let install, let app, _):
                    log.info("erased an install, as its app has asked", ["app": app, "install": "\(install)"])
                    worker.rest(min(Self.longestRest, Deadline.now.seconds(since: began)))
                case .failed(let install, let app, let fault):
                    log.error(
                        "could not erase an install yet: trying again in a minute",
                        ["app": app, "install": "\(install)", "error": fault])
                    worker.rest(min(Self.longestRest, max(1, Deadline.now.seconds(since: began))))
                }
            }
        } failed: { error, isNews in
            if isNews, !worker.isStopping {
                log.warning("cannot look for installs to erase: trying again", ["error": "\(error)"])
            }
        }
    }
}
