internal import Accounts
internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// A writer's connection, and what it has learned from the database behind it. A stage of a commit gets a session or is
/// not entered; when the connection is lost, the session goes with all that it knew, since after a failover or a
/// restore the new server may say otherwise.
final class AppendSession {
    var connection: Connection
    /// The number of shards in this database.
    let shards: Int16
    /// What was removed for good, as far as this writer knows.
    private(set) var removed = RemovedHistory()
    /// Whether there may be removals that `removed` does not know.
    var mayHaveNewRemovals = true
    /// The first key of each app, as far as known.
    private(set) var firstKeys: [Int32: Int32] = [:]
    private var batchIDs: Range<Int64> = 0..<0
    private let statementSeconds: Int

    init(_ configuration: Appender.Configuration, log: Log) throws(PostgresError) {
        var fresh = try LogSession.open(
            url: configuration.url, role: .ingest, purpose: "writer", log: log,
            statementSeconds: configuration.statementSeconds)
        fresh.deadline = .after(seconds: 10)
        // The probe is planned once, perhaps on an empty table, and must look each candidate up by the index whatever
        // the statistics say. Its LIMIT rules out every other join, and these settings every other scan.
        try fresh.execute(
            script: """
                SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
                """)
        shards = try Shard.count(on: &fresh)
        fresh.deadline = .never
        connection = consume fresh
        statementSeconds = configuration.statementSeconds
    }

    /// Runs a piece of work, a statement or a whole transaction, under the deadline for one: a server that hangs must
    /// not hold the writer.
    func timed<Result>(
        _ work: (AppendSession) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        connection.deadline = .after(seconds: Double(statementSeconds) + 2)
        defer { connection.deadline = .never }
        return try work(self)
    }

    /// Reads the newest decisions, if there may be any. Returns whether it asked.
    func learnRemoved() throws(PostgresError) -> Bool {
        guard mayHaveNewRemovals else { return false }
        try timed { session throws(PostgresError) in try session.removed.refresh(on: &session.connection) }
        mayHaveNewRemovals = false
        return true
    }

    /// Keys are never deleted, so the first key of an app stays the first.
    func learnFirstKeys(of submissions: [Submission]) throws(PostgresError) {
        let unknown = Set(submissions.map(\.app)).subtracting(firstKeys.keys)
        guard !unknown.isEmpty else { return }
        let rows = try timed { session throws(PostgresError) in
            try session.connection.queryPrepared(
                "SELECT app, min(id) FROM log.api_key WHERE app = ANY (\(unknown.sorted())) GROUP BY app")
        }
        for row in rows { firstKeys[try row.get(0)] = try row.get(1) }
    }

    /// What must not come in now, as far as this writer knows.
    func exclusions(from submissions: [Submission], _ checks: Appender.Checks) -> Exclusions {
        var exclusions = Exclusions(shards: shards)
        if checks.contains(.keys) { exclusions.closedKeys = removed.closedKeys }
        if checks.contains(.place) {
            exclusions.elsewhere = removed.elsewhere
            // An app reaches the cells of a cluster one after the other.
            for submission in submissions where firstKeys[submission.app] == nil {
                exclusions.unknownApps.insert(submission.app)
            }
        }
        return exclusions
    }

    func nextBatchID() throws(PostgresError) -> Int64 {
        if batchIDs.isEmpty {
            let first: Int64 = try connection.queryPrepared("SELECT nextval('log.batch_id')")[0].get(0)
            batchIDs = first..<(first + 64)
        }
        defer { batchIDs.removeFirst() }
        return batchIDs.lowerBound
    }
}
