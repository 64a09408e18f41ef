internal import Accounts
package import EventLog
internal import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// The writers. Each commits at once all that gathered during its last commit: no timer when idle, bigger batches under
/// load.
///
/// An install always has the same writer, so a retry cannot race its first copy.
package final class GroupCommit: Sendable {
    package struct Configuration: Sendable {
        package var writers = 2
        /// How many bytes of events may wait, shared by apps as `SharedRoom` says; beyond it requests are refused.
        package var mostQueuedBytes = 32 * 1024 * 1024
        /// The most events, rejections and drop reports in one commit, unless a single request has more. A request that
        /// arrives meanwhile waits for all of them, whoever sent them, and a larger commit would hardly be cheaper per
        /// event.
        package var mostRowsPerCommit = 2_000

        package init() {}
    }

    /// One writer's part of a request.
    struct Part: Sendable {
        /// The place of its database in the table of destinations, and its writer there.
        let destination: Int
        let writer: Int
        let submission: Submission
        /// The memory that it takes until it is committed.
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
        /// Another cell takes the events of its installs; nothing more of it is stored here.
        case elsewhere
        /// It may or may not be stored.
        case lost
    }

    /// Why a part was not queued.
    enum Refusal: Error { case overloaded, unavailable, stopping, wrongClock(String) }

    let writerCount: Int
    private let writers: [Writer]
    private let room: Lock<Room>
    /// Where the time of its commits goes.
    package let phases: PhaseTimes<CommitPhase>

    /// What may wait for a commit.
    private struct Room {
        var bytes: SharedRoom
        var parts = 0
        var mostParts = Int.max

        mutating func take(_ size: Int, _ count: Int, of app: Int32) -> Bool {
            guard parts + count <= mostParts, bytes.take(size, of: app) else { return false }
            parts += count
            return true
        }

        mutating func give(_ part: Part) {
            bytes.give(part.bytes, of: part.submission.app)
            parts -= 1
        }
    }

    /// `learned` is called on a writer's thread when the log tells it of a map of shards, with the epoch of the map.
    package init(
        _ configuration: Configuration, appender: Appender.Configuration, months: PartitionRequests, log: Log,
        metrics: IngestionMetrics, learned: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        writerCount = configuration.writers
        let room = Lock(Room(bytes: SharedRoom(configuration.mostQueuedBytes)))
        self.room = room
        let allowance = RejectedAllowance()
        let phases = PhaseTimes(metrics.commitPhases)
        self.phases = phases
        writers = (0..<configuration.writers).map { number in
            Writer(
                number: number, mostRows: configuration.mostRowsPerCommit,
                appender: appender, allowance: allowance, months: months, log: log, metrics: metrics,
                watch: phases.watch(), learned: learned
            ) { part in room.withLock { $0.give(part) } }
        }
    }

    /// Which writer an install's events belong to.
    func writer(of install: UUID) -> Int { Int(Shard.of(install, among: Shard.most)) % writerCount }

    /// Makes room for all parts of a request that are for this database, or for none.
    func reserve(_ parts: [Part]) throws(Refusal) {
        for part in parts {
            switch writers[part.writer].readiness {
            case .ready: continue
            case .away: throw .unavailable
            case .stopping: throw .stopping
            }
        }
        guard let app = parts.first?.submission.app else { return }
        // All parts of a request belong to one app.
        let bytes = parts.reduce(0) { $0 + $1.bytes }
        guard room.withLock({ $0.take(bytes, parts.count, of: app) }) else { throw .overloaded }
    }

    /// Gives back the room of parts that will not come.
    func giveBack(_ parts: [Part]) {
        room.withLock { room in
            for part in parts { room.give(part) }
        }
    }

    /// Queues parts for which there is room.
    func enqueue(_ parts: [Part]) {
        for part in parts { writers[part.writer].enqueue(part) }
    }

    /// Bytes that wait for a commit.
    package var queued: Int { room.withLock { $0.bytes.used } }

    /// Whether every writer has its connection.
    package var isConnected: Bool { writers.allSatisfy { $0.readiness == .ready } }

    package func start() {
        for writer in writers { writer.start() }
    }

    /// Lets at most that many parts of requests wait: each holds a connection, which requests for other databases need,
    /// too.
    package func limit(parts: Int) { room.withLock { $0.mostParts = parts } }

    /// Refuses new parts from now on.
    package func askToStop() {
        for writer in writers { writer.askToStop() }
    }

    /// Commits what waits, then ends. Refuses new parts from now on.
    package func stop() {
        askToStop()
        for writer in writers { writer.join() }
    }
}
