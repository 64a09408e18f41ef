internal import Accounts
package import EventLog
internal import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// The writers. Each takes whatever has gathered while its last commit ran, and commits it as one: no timer when idle,
/// bigger batches under load.
///
/// An install always meets the same writer, so a retry cannot race its first copy.
package final class GroupCommit: Sendable {
    package struct Configuration: Sendable {
        package var writers = 2
        /// What may wait at once, in bytes of events, shared by apps as `SharedRoom` says; beyond it requests are turned
        /// away.
        package var mostQueuedBytes = 32 * 1024 * 1024
        /// Events, refusals and drop reports that one commit takes at the most, but for a single request. Who comes while it
        /// runs waits for all of them, whoever brought them; and with so many a commit's own price is no longer felt.
        package var mostRowsPerCommit = 2_000

        package init() {}
    }

    /// One writer's part of a request.
    struct Part: Sendable {
        let submission: Submission
        let bytes: Int
        /// Everything that it brings, not only what is stored.
        var rows: Int { submission.rows }
        /// Called once, on the writer's thread.
        let finish: @Sendable (Fate) -> Void
    }

    /// What became of a part.
    enum Fate: Sendable {
        case committed(Verdicts)
        /// Its key was closed before the commit: nothing of it is stored.
        case keyClosed
        /// Nothing is promised.
        case lost
    }

    /// Why a part was not even queued.
    enum Refusal: Error { case overloaded, unavailable, stopping }

    let writerCount: Int
    private let writers: [Writer]
    private let room: Lock<SharedRoom>

    package init(
        _ configuration: Configuration, appender: Appender.Configuration, months: PartitionRequests, log: Log,
        metrics: IngestionMetrics
    ) {
        writerCount = configuration.writers
        let room = Lock(SharedRoom(configuration.mostQueuedBytes))
        self.room = room
        let allowance = RejectedAllowance()
        writers = (0..<configuration.writers).map { number in
            Writer(
                number: number, mostRows: configuration.mostRowsPerCommit,
                appender: appender, allowance: allowance, months: months, log: log, metrics: metrics
            ) { part in room.withLock { $0.give(part.bytes, of: part.submission.app) } }
        }
    }

    /// Which writer an install's events belong to.
    func writer(of install: UUID) -> Int { Int(Shard.of(install, among: Shard.most)) % writerCount }

    /// Takes all parts of a request, or none.
    func submit(_ parts: [(writer: Int, part: Part)]) throws(Refusal) {
        for (writer, _) in parts {
            switch writers[writer].readiness {
            case .ready: continue
            case .away: throw .unavailable
            case .stopping: throw .stopping
            }
        }
        guard let app = parts.first?.part.submission.app else { return }
        // Parts of one request are of one app.
        let bytes = parts.reduce(0) { $0 + $1.part.bytes }
        guard room.withLock({ $0.take(bytes, of: app) }) else { throw .overloaded }
        for (writer, part) in parts { writers[writer].enqueue(part) }
    }

    /// Bytes that wait for their commit.
    package var queued: Int { room.withLock { $0.used } }

    /// Whether every writer has its connection.
    package var isConnected: Bool { writers.allSatisfy { $0.readiness == .ready } }

    package func start() {
        for writer in writers { writer.start() }
    }

    /// Commits what waits, then ends. New parts are refused from now on.
    package func stop() {
        for writer in writers { writer.askToStop() }
        for writer in writers { writer.join() }
    }
}
