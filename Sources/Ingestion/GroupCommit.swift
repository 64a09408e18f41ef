internal import Accounts
package import EventLog
internal import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// The writers. Each commits at once all that gathered during its last commit: no timer when idle, bigger batches under load.
///
/// An install always has the same writer, so a retry cannot race its first copy.
package final class GroupCommit: Sendable {
    package struct Configuration: Sendable {
        package var writers = 2
        /// How many bytes of events may wait, shared by apps as `SharedRoom` says; beyond it requests are refused.
        package var mostQueuedBytes = 32 * 1024 * 1024
        /// The most events, rejections and drop reports in one commit, unless a single request has more. A request that arrives
        /// meanwhile waits for all of them, whoever sent them, and a larger commit would hardly be cheaper per event.
        package var mostRowsPerCommit = 2_000

        package init() {}
    }

    /// One writer's part of a request.
    struct Part: Sendable {
        let submission: Submission
        let bytes: Int
        /// How many rows it may cause, rejected events and reports included.
        var rows: Int { submission.rows }
        /// Called once, on the writer's thread.
        let finish: @Sendable (Fate) -> Void
    }

    /// The result of a part.
    enum Fate: Sendable {
        case committed(Verdicts)
        /// Its key was closed before the commit; nothing of it is stored.
        case keyClosed
        /// It may or may not be stored.
        case lost
    }

    /// Why a part was not queued.
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

    /// Queues all parts of a request, or none.
    func submit(_ parts: [(writer: Int, part: Part)]) throws(Refusal) {
        for (writer, _) in parts {
            switch writers[writer].readiness {
            case .ready: continue
            case .away: throw .unavailable
            case .stopping: throw .stopping
            }
        }
        guard let app = parts.first?.part.submission.app else { return }
        // All parts of a request belong to one app.
        let bytes = parts.reduce(0) { $0 + $1.part.bytes }
        guard room.withLock({ $0.take(bytes, of: app) }) else { throw .overloaded }
        for (writer, part) in parts { writers[writer].enqueue(part) }
    }

    /// Bytes that wait for a commit.
    package var queued: Int { room.withLock { $0.used } }

    /// Whether every writer has its connection.
    package var isConnected: Bool { writers.allSatisfy { $0.readiness == .ready } }

    package func start() {
        for writer in writers { writer.start() }
    }

    /// Commits what waits, then ends. Refuses new parts from now on.
    package func stop() {
        for writer in writers { writer.askToStop() }
        for writer in writers { writer.join() }
    }
}
