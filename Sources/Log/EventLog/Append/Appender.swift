internal import Accounts
internal import Envelopes
package import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// Appends to the log, one commit at a time. One thread uses it. If its connection is lost, it opens a new one.
///
/// A batch goes through these stages: words become ids; events that the log has, or that the batch repeats, are found;
/// the rest is stored by COPY, in a fixed order so that two nodes with crossed retries cannot deadlock; then the batch
/// takes its number under the lock of the head, and commits. Removed events are rejected before that, and under the
/// head's lock the log turns back a writer that does not know the newest history.
package final class Appender {
    private let configuration: Configuration
    private let allowance: RejectedAllowance
    private let log: Log
    private let watch: PhaseWatch<CommitPhase>?
    private var connection: Connection?
    var words = WordCache()
    var combinations = CombinationCache()
    /// The first key of each app, as far as known.
    private var firstKeys: [Int32: Int32] = [:]
    /// The number of shards in this database.
    private var shards: Int16 = 0
    private var batchIDs: Range<Int64> = 0..<0
    /// Probing costs a tenth of the throughput, and most batches have no repeats. So a batch is stored without a probe
    /// unless one of the last few had a repeat. If the unique index refuses it, the batch is rolled back and then
    /// probed.
    private var batchesToProbe = 0
    private static let batchesToProbeAfterRepeat = 64
    /// Whether the last failure was a row that COPY did not accept.
    private var refusedRows = false
    private let months: PartitionRequests
    private var removed = RemovedHistory()
    /// Whether there may be removals that `removed` does not know.
    private var mayHaveNewRemovals = true
    /// The epoch of the map of shards that it knows; 0 outside a cluster.
    package var epoch: Int64 { removed.epoch }
    /// Number and size of the last committed batch, for the metrics.
    package private(set) var lastBatch: (number: Int64, events: Int)?

    package init(
        _ configuration: Configuration, allowance: RejectedAllowance, months: PartitionRequests = PartitionRequests(),
        log: Log, watch: PhaseWatch<CommitPhase>? = nil
    ) {
        self.configuration = configuration
        self.allowance = allowance
        self.months = months
        self.log = log
        self.watch = watch
    }

    /// Makes sure that there is a connection, or throws why there cannot be one.
    package func connect() throws(PostgresError) {
        if connection?.isUsable == true { return }
        connection = nil
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
        // After a failover or a restore the new server may have given these ids to others.
        batchIDs = 0..<0
        words = WordCache()
        combinations = CombinationCache()
        firstKeys = [:]
        removed = RemovedHistory()
        mayHaveNewRemovals = true
    }

    /// Stores the events of the submissions and returns the verdict of each, in order. When this returns, they are
    /// committed. When it throws, they may or may not be; a retry is safe. It checks neither keys nor shards: this is
    /// for what an owner appends.
    package func append(_ submissions: [Submission]) throws(PostgresError) -> [[Verdict]] {
        zip(submissions, try append(submissions, checking: [])).compactMap { submission, settlement in
            if case .settled(let verdicts) = settlement { verdicts.each(of: submission) } else { nil }
        }
    }

    /// Like `append`, with checks that hold at the commit: nothing more is stored of a submission that fails one.
    package func append(_ submissions: [Submission], checking checks: Checks) throws(PostgresError) -> [Settlement] {
        try connect()
        var batch = PendingBatch(submissions)
        for tries in 1... {
            do {
                watch?.enter(.words)
                let isNews = try learnRemoved()
                try learnFirstKeys(of: submissions)
                batch.begin(without: exclusions(from: submissions, checks))
                if batch.isForElsewhere, !isNews {
                    // The sender used a different map, maybe a newer one. An empty batch commits nothing, so only
                    // reading the map again tells.
                    mayHaveNewRemovals = true
                    continue
                }
                batch.makeCandidates()
                try resolveWords(of: &batch)
                try resolveCombinations(of: &batch)
                batch.settleRepeats()
                months.note(batch.candidates.lazy.map(\.identity.deviceAt))
                try store(try settleRemoved(of: &batch)[...], in: &batch)
                var nothing: ArraySlice<PendingBatch.Candidate> = []
                if batch.hasSomethingToTell { try attempt(&nothing, in: &batch) }
                break
            } catch {
                for refusal in batch.unstoredRefusals { allowance.giveBack(refusal) }
                guard error.state == .historyRaised, connection != nil, tries < 10 else { throw error }
                // Something was removed, a key was closed, or words were pruned: what is not committed starts again.
                log.debug(
                    "retention, erasure, a revoked key or a new map overtook a batch: trying it again",
                    ["error": "\(error)"])
                mayHaveNewRemovals = true
                words = WordCache()
                combinations = CombinationCache()
            }
        }
        guard let settlements = batch.settlements else { throw .decoding("an event has no verdict") }
        return settlements
    }

    /// What must not come in now, as far as this writer knows.
    private func exclusions(from submissions: [Submission], _ checks: Checks) -> PendingBatch.Exclusions {
        var exclusions = PendingBatch.Exclusions(shards: shards)
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

    /// Stores these candidates, in one batch if PostgreSQL takes them. Otherwise it halves them until it finds the
    /// event at fault. Only an error of COPY itself is an event's fault.
    private func store(
        _ candidates: ArraySlice<PendingBatch.Candidate>, in batch: inout PendingBatch
    ) throws(PostgresError) {
        guard !candidates.isEmpty else { return }
        var candidates = candidates
        do {
            try attempt(&candidates, in: &batch)
        } catch {
            guard refusedRows, let state = error.state, state.blamesData, state != .uniqueViolation else { throw error }
            if candidates.count == 1 {
                log.error("PostgreSQL refused an event that had passed validation", ["error": "\(error)"])
                batch.reject(
                    candidates[candidates.startIndex],
                    Rejection(.unstorable, "PostgreSQL refused it (SQLSTATE \(state))"))
                return
            }
            let middle = candidates.startIndex + candidates.count / 2
            try store(candidates[..<middle], in: &batch)
            try store(candidates[middle...], in: &batch)
        }
    }

    /// Runs one transaction, and repeats it while it crosses another writer's commit. Takes out candidates that get a
    /// verdict before.
    private func attempt(
        _ candidates: inout ArraySlice<PendingBatch.Candidate>, in batch: inout PendingBatch
    ) throws(PostgresError) {
        for index in candidates.indices { candidates[index].tie = 0 }
        var isRefusedThoughProbed = false
        for tries in 1... {
            let probes = tries > 1 || batchesToProbe > 0
            // Includes the ROLLBACK: a server that hangs must not hold the writer.
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            if !removed.isEmpty {
                for refusal in batch.removeErased(by: removed) { allowance.giveBack(refusal) }
            }
            do throws(PostgresError) {
                return try commit(&candidates, probing: probes, breakingTies: isRefusedThoughProbed, in: &batch)
            } catch {
                if error.state == .uniqueViolation {
                    batchesToProbe = Appender.batchesToProbeAfterRepeat
                    if probes { isRefusedThoughProbed = true }
                }
                connection?.rollBack()
                // A server that became read-only is the old primary: look for the new one.
                if connection?.isUsable != true || error.state == .readOnlyTransaction { connection = nil }
                guard let state = error.state, Appender.mayHaveCrossed(state, tries) else { throw error }
                log.debug("another commit overtook a batch: trying it again", ["error": "\(error)"])
            }
        }
    }

    private func commit(
        _ candidates: inout ArraySlice<PendingBatch.Candidate>, probing: Bool, breakingTies: Bool,
        in batch: inout PendingBatch
    ) throws(PostgresError) {
        refusedRows = false
        watch?.enter(.probe)
        let batchID = try nextBatchID()
        // The probe opens the transaction; without a probe, COPY does.
        let probed = try probing ? probe(candidates) : nil
        let known = probed ?? []
        var isOpen = probed != nil
        CrashPoint.pass("begun")
        if breakingTies {
            let crowded = try breakTies(of: &candidates, known: known)
            guard crowded.isEmpty else {
                for candidate in crowded {
                    batch.reject(candidate, Rejection(.unstorable, "at: 16 other events have this time and its hash"))
                }
                let refused = Set(crowded.map(\.identity))
                candidates = candidates.filter { !refused.contains($0.identity) }[...]
                connection?.rollBack()
                return try commit(&candidates, probing: true, breakingTies: true, in: &batch)
            }
        }
        watch?.enter(.copy)
        let receivedAt = batch.submissions.lazy.map(\.envelope.receivedAt).min()
        var rows = CopyRows(columns: EventRow.columns.count, capacity: 320 * candidates.count)
        var shardEvents = [Int32](repeating: 0, count: Int(shards))
        var times: (least: Timestamp, greatest: Timestamp)?
        for (offset, candidate) in candidates.enumerated() {
            if !known.isEmpty, known.contains(offset) { continue }
            let identity = candidate.identity
            let shard = Shard.of(identity.install, among: shards)
            let key = batch.submissions[candidate.submission].key
            let envelope = batch.submissions[candidate.submission].envelope
            rows.append(
                candidate.event, of: envelope,
                at: EventRow.Place(
                    batchID: batchID, batchReceivedAt: receivedAt ?? envelope.receivedAt, app: identity.app,
                    key: key == firstKeys[identity.app] ? nil : key, shard: shard, tie: candidate.tie,
                    names: candidate.names, loose: batch.looseCombinations(of: candidate)))
            shardEvents[Int(shard)] += 1
            times = (
                min(times?.least ?? identity.deviceAt, identity.deviceAt),
                max(times?.greatest ?? identity.deviceAt, identity.deviceAt)
            )
        }
        if rows.count > 0 {
            refusedRows = true
            let stored = try connected(connection?.copyIn(isOpen ? EventRow.copy : Appender.beginAndCopy, rows))
            isOpen = true
            refusedRows = false
            guard stored == rows.count else { throw .decoding("COPY took \(stored) of \(rows.count) rows") }
            CrashPoint.pass("copied")
        }
        try admitRefusals(of: &batch)
        let news = batch.news(of: candidates, known: known)
        var statements: [Statement] = isOpen ? [] : [Appender.begin]
        let refusals = statements.count
        if !news.refusals.isEmpty { statements.append(SideTables.insertRefusals(news.refusals, batchID: batchID)) }
        if !news.drops.isEmpty { statements.append(SideTables.insertDrops(news.drops, batchID: batchID)) }
        let tally = news.tally.parameters
        statements.append(
            """
            SELECT log.add_batch(
                \(batchID), \(configuration.node), \(Int32(rows.count)), \(receivedAt), \(shardEvents), \(times?.least),
                \(times?.greatest), \(tally.numbers), \(tally.rejected), \(removed.history)),
                extract(epoch FROM clock_timestamp() - statement_timestamp())::float8
            """)
        statements.append("COMMIT")
        CrashPoint.pass("numbering")
        let answers = try numberAndCommit(statements)
        // COMMIT of a failed transaction is answered with ROLLBACK, and without an error.
        guard answers[answers.count - 1].commandTag == "COMMIT" else {
            throw .connection("the commit was not confirmed")
        }
        // The next try finds everything stored, and waits for the standby again.
        guard connection?.takeGivenUpStandby() == false else {
            throw .connection("the standby did not confirm the commit")
        }
        if !news.refusals.isEmpty {
            let stored = try SideTables.storedRefusals(answers[refusals])
            for refusal in news.refusals where !stored.contains(refusal.identity) { allowance.giveBack(refusal) }
        }
        lastBatch = (try answers[answers.count - 2][0].get(0), rows.count)
        batchesToProbe = known.isEmpty ? max(0, batchesToProbe - 1) : Appender.batchesToProbeAfterRepeat
        batch.settle(candidates, known: known)
    }

    /// Both go to the server at once, so the server tells how long the numbering took: PostgreSQL computes the columns
    /// of its row one after another.
    private func numberAndCommit(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
        watch?.enter(.commit)
        do {
            let answers = try connected(connection?.pipeline(statements))
            watch?.attribute(try answers[answers.count - 2][0].get(1), to: .number)
            return answers
        } catch {
            // A statement that ran into its limit: the numbering waits for locks, and the commit has no such limit.
            if error.state == .queryCanceled || error.state == .lockNotAvailable {
                watch?.attribute(nil, to: .number)
            }
            throw error
        }
    }

    /// The numbering needs each statement to see all earlier commits, whatever the database's default is.
    private static let begin: Statement = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

    private static let beginAndCopy = "\(begin.sql); \(EventRow.copy)"

    /// Opens the transaction and returns the places of those candidates that the log already has. Without candidates it
    /// returns nil and opens nothing.
    private func probe(_ candidates: ArraySlice<PendingBatch.Candidate>) throws(PostgresError) -> Set<Int>? {
        guard let probe = Probe.statement(candidates) else { return nil }
        return try Probe.places(try connected(connection?.pipeline([Appender.begin, probe]))[1])
    }

    /// Distinguishes events with the same time and hash: each takes the lowest free tie. Returns the events for which
    /// none is free; that takes hashes that somebody made on purpose.
    private func breakTies(
        of candidates: inout ArraySlice<PendingBatch.Candidate>, known: Set<Int>
    ) throws(PostgresError) -> [PendingBatch.Candidate] {
        struct Slot: Hashable {
            let time: Timestamp
            let hash: Int64
        }
        var taken: [Slot: Set<Int32>] = [:]
        var crowded: [PendingBatch.Candidate] = []
        // Waits for an erasure that is running. The next one waits for this commit, since an erasure moves the ties of
        // the remaining events.
        try connected(connection?.queryPrepared("SELECT log.hold_ties()"))
        let rows = try connected(connection?.queryPrepared(Probe.ties(candidates)))
        for (offset, place) in candidates.indices.enumerated() where !known.contains(offset) {
            let others: [Int32] = try rows[offset].get(1)
            let slot = Slot(time: candidates[place].identity.deviceAt, hash: try rows[offset].get(0))
            taken[slot, default: []].formUnion(others)
            guard let tie = (0..<16).first(where: { taken[slot]?.contains($0) == false }) else {
                crowded.append(candidates[place])
                continue
            }
            taken[slot]?.insert(tie)
            candidates[place].tie = Int16(tie)
        }
        return crowded
    }

    /// Reads the newest decisions, if there may be any. Returns whether it asked.
    private func learnRemoved() throws(PostgresError) -> Bool {
        guard mayHaveNewRemovals else { return false }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        guard connection != nil else { throw .connection("the connection was lost") }
        try connection?.learn(&removed)
        mayHaveNewRemovals = false
        return true
    }

    /// Gives verdicts to candidates from before an erasure or from a closed month, and returns the others. Such a
    /// candidate is a duplicate if the log still has it, and is rejected otherwise. It uses what this writer knows; if
    /// that is not the newest history, the log turns the commit back.
    ///
    /// No such candidate may be left for the unique index: by then the stored event may be gone.
    private func settleRemoved(of batch: inout PendingBatch) throws(PostgresError) -> [PendingBatch.Candidate] {
        guard !removed.isEmpty else { return batch.candidates }
        var (others, rejected): ([PendingBatch.Candidate], [PendingBatch.Candidate]) = ([], [])
        var rejections: [Rejection] = []
        for candidate in batch.candidates {
            let event = batch.submissions[candidate.submission].envelope.events[candidate.event]
            if let rejection = removed.rejection(
                of: event, install: candidate.identity.install, app: candidate.identity.app)
            {
                rejected.append(candidate)
                rejections.append(rejection)
            } else {
                others.append(candidate)
            }
        }
        guard let probe = Probe.statement(rejected[...]) else { return batch.candidates }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        let known = try Probe.places(try connected(connection?.queryPrepared(probe)))
        for (index, candidate) in rejected.enumerated() {
            if known.contains(index) {
                batch.settleKnown(candidate)
            } else {
                batch.reject(candidate, rejections[index])
            }
        }
        return others
    }

    /// The answer of the connection, which exists from `connect` on, until it is lost.
    @discardableResult
    private func connected<Answer>(_ answer: Answer?) throws(PostgresError) -> Answer {
        guard let answer else { throw .connection("the connection was lost") }
        return answer
    }

    private func nextBatchID() throws(PostgresError) -> Int64 {
        if batchIDs.isEmpty {
            let first: Int64 = try connected(connection?.queryPrepared("SELECT nextval('log.batch_id')"))[0].get(0)
            batchIDs = first..<(first + 64)
        }
        defer { batchIDs.removeFirst() }
        return batchIDs.lowerBound
    }

    /// Keeps those rejected events for which today's allowance has room; the others are only counted.
    private func admitRefusals(of batch: inout PendingBatch) throws(PostgresError) {
        var kept: [Refusal] = []
        for refusal in batch.takeFreshRefusals() {
            let (app, time) = (refusal.app, refusal.receivedAt)
            if allowance.isUnknown(app: app, at: time) {
                let row = try connected(connection?.query(SideTables.countRejected(app: app, day: time)))[0]
                allowance.learn(
                    app: app, at: time, rows: Int(try row.get(0, as: Int64.self)),
                    bytes: Int(try row.get(1, as: Int64.self)))
            }
            if allowance.take(refusal) { kept.append(refusal) }
        }
        batch.keep(kept)
    }

    /// Keys are never deleted, so the first key of an app stays the first.
    private func learnFirstKeys(of submissions: [Submission]) throws(PostgresError) {
        let unknown = Set(submissions.map(\.app)).subtracting(firstKeys.keys)
        guard !unknown.isEmpty else { return }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        let rows = try connected(
            connection?.queryPrepared(
                "SELECT app, min(id) FROM log.api_key WHERE app = ANY (\(unknown.sorted())) GROUP BY app"))
        for row in rows { firstKeys[try row.get(0)] = try row.get(1) }
    }

    /// Gives every event the ids of its device and context, if the dictionaries have room.
    private func resolveCombinations(of batch: inout PendingBatch) throws(PostgresError) {
        let unknown = batch.combineCandidates(combinations)
        guard !unknown.isEmpty else { return }
        var learned: [Combination: Int32] = [:]
        for (group, asked) in unknown {
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            let width = Combination.width(of: group.dictionary)
            let members = asked.flatMap { combination in (0..<width).map { combination.members[$0] } }
            let rows = try connected(
                connection?.queryPrepared(
                    """
                    SELECT place, id FROM log.learn_combinations(
                        \(group.dictionary.rawValue), \(group.app), \(Int32(width)), \(members),
                        \(Int32(clamping: Int64(configuration.mostWords) * 10)))
                    """))
            for row in rows {
                guard let id: Int32 = try row.optional(1) else { continue }
                learned[asked[Int(try row.get(0, as: Int32.self)) - 1]] = id
            }
        }
        for (combination, id) in learned { combinations.insert(id, for: combination) }
        batch.completeCombinations(learned)
    }

    /// Gives every event the ids of its words. A word that is not learned gets the id of the reserved word.
    private func resolveWords(of batch: inout PendingBatch) throws(PostgresError) {
        var learned: [WordCache.Key: PendingBatch.LearnedWord] = [:]
        for (group, words) in batch.nameCandidates(&words) {
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            let rows = try connected(
                connection?.queryPrepared(
                    """
                    SELECT value, id, is_other FROM log.learn_words(
                        \(group.app), \(group.kind.rawValue), \(words.keys.map(\.text)), \(words.values.map(\.key)),
                        \(words.values.map(\.install)), \(configuration.mostWords), \(configuration.newWords.ofInstall),
                        \(configuration.newWords.ofKey))
                    """))
            for row in rows {
                learned[WordCache.Key(app: group.app, kind: group.kind, word: Word(try row.get(0)))] =
                    PendingBatch.LearnedWord(id: try row.get(1), isOther: try row.get(2))
            }
        }
        // A word that was not learned today may be learned tomorrow.
        for (key, word) in learned where !word.isOther { words.insert(word.id, for: key) }
        try batch.completeCandidates(learned)
        CrashPoint.pass("named")
    }
}

extension Connection {
    /// A method, since Swift cannot pass the content of an optional `inout`.
    fileprivate mutating func learn(_ removed: inout RemovedHistory) throws(PostgresError) {
        try removed.refresh(on: &self)
    }
}
