package import Accounts
package import EventLog
internal import Migrations
internal import Postgres
package import ServiceRuntime
internal import Values

/// Watches the database: whether it can be reached and fits this program. Beside writers, it also creates partitions
/// ahead of need.
package final class LogKeeper: Sendable {
    /// The state of the database.
    package enum Health: Sendable, Equatable {
        case unknown
        case well
        case away(String)
        /// It can be reached, but this login may not do the work.
        case refused(String)
        case unfit(String)
    }

    /// When to check the months again.
    private struct Rounds {
        var next = Deadline.now
        /// Writers ask again with each batch, and wait behind each attempt. So after a failed one there is no other
        /// before `next`.
        var isHeld = false
        /// For how many seconds the next attempt is delayed if a reader blocks it.
        var patience = 1.0
    }

    private let worker = DatabaseWorker(Health.unknown)
    private let url: String
    private let role: LogSession.Role
    private let log: Log
    private let months: PartitionRequests
    private let watch: ClockWatch?
    private let phases: PhaseNotes?
    private let revive: @Sendable () throws -> Void
    private let rounds = Lock(Rounds())

    /// Switches to `role` once the database fits. Only the ingest role creates partitions. Each second `watch` compares
    /// this machine's clock with the database's, and every five the `phases` are noted. `revive` is called whenever the
    /// database cannot be reached: for a database that we start ourselves.
    package init(
        url: String, role: LogSession.Role, months: PartitionRequests, log: Log, watch: ClockWatch? = nil,
        phases: PhaseNotes? = nil, revive: @escaping @Sendable () throws -> Void = {}
    ) {
        self.url = url
        self.role = role
        self.log = log
        self.months = months
        self.watch = watch
        self.phases = phases
        self.revive = revive
    }

    package var health: Health { worker.withLock { health in health } }

    package func start() { worker.start(["keeper"]) { _ in self.run() } }

    package func stop() {
        worker.askToStop()
        months.close()
        worker.join()
    }

    private func run() {
        worker.keep(Backoff(first: 0.5, most: 1)) { () throws(PostgresError) in
            try LogSession.open(url: url, role: nil, purpose: "keeper", log: log)
        } work: { connection, backoff throws(PostgresError) in
            while !worker.isStopping {
                connection.deadline = .after(seconds: 10)
                try look(&connection)
                if health == .well { backoff.reset() } else { worker.rest(0.25) }
            }
        } failed: { error, _ in
            guard error.state != .insufficientPrivilege else {
                return tell(.refused("\(error). As the owner of the database: GRANT \(role.rawValue) TO the login"))
            }
            tell(.away("\(error)"))
            if !worker.isStopping { reviveDatabase() }
        }
    }

    /// One round: checks whether the database fits, and if so, whether the needed months exist. It checks the months
    /// every minute, when a writer asks, and soon again if one could not be created.
    private func look(_ connection: inout Connection) throws(PostgresError) {
        if let misfit = try Migrations.state(of: &connection).misfit { return tell(.unfit(misfit)) }
        if health != .well {
            try connection.execute(script: "SET ROLE \(Statement.quoted(role.rawValue))")
        }
        try watch?.compare(on: &connection)
        tell(.well)
        // Migrations are checked again now and then: a newer program may have migrated the database.
        let nextMigrationCheck = Deadline.after(seconds: 10)
        while !worker.isStopping, !nextMigrationCheck.hasPassed {
            connection.deadline = .after(seconds: 10)
            let (isDue, isHeld) = rounds.withLock { ($0.next.hasPassed, $0.isHeld && !$0.next.hasPassed) }
            if isHeld { worker.rest(1) }
            let wanted = isHeld ? [] : months.wanted(until: .after(seconds: 1))
            if role == .ingest, isDue || !wanted.isEmpty { try keepPartitions(wanted, &connection) }
            if let watch { try watch.compare(on: &connection) } else { try connection.query("SELECT 1") }
            try phases?.note(on: &connection, log: log)
        }
    }

    /// Creates missing partitions, and decides when to check again. Meanwhile the default partition takes the rows.
    private func keepPartitions(_ wanted: Set<CivilDate>, _ connection: inout Connection) throws(PostgresError) {
        do {
            switch try Partitions.keep(wanted, at: WallClock.now, book: months, on: &connection, log: log) {
            case .complete: rounds.withLock { $0 = Rounds(next: .after(seconds: 60)) }
            case .tryAgainSoon:
                rounds.withLock {
                    $0 = Rounds(next: .after(seconds: $0.patience), isHeld: true, patience: min(2 * $0.patience, 30))
                }
            }
        } catch {
            guard !error.isUnavailable else { throw error }
            log.error("could not create partitions in advance", ["error": "\(error)"])
            rounds.withLock { $0 = Rounds(next: .after(seconds: 10), isHeld: true) }
        }
    }

    private func reviveDatabase() {
        do { try revive() } catch { log.error("could not restart the database", ["error": "\(error)"]) }
    }

    private func tell(_ health: Health) {
        let changed = worker.withLock { known in
            defer { known = health }
            return known != health
        }
        guard changed else { return }
        switch health {
        case .unknown: break
        case .well: log.info("the database is ready")
        case .away(let reason): log.error("the database cannot be reached", ["reason": reason])
        case .refused(let reason): log.error("the database refuses this login", ["reason": reason])
        case .unfit(let reason): log.error("the database does not fit this program", ["reason": reason])
        }
    }
}
