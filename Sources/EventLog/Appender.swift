internal import Accounts
internal import Envelopes
package import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// Appends to the log, one commit at a time. One thread uses it; its connection is made anew when it was lost.
///
/// The way of a batch: words become ids; events known to the log or repeated within the batch are found; the rest goes
/// in by COPY, in one order so that two nodes with crossed retries cannot deadlock; last, under the head's lock, the batch
/// takes its number; commit. What retention or erasure has taken away does not get so far, and under the head's lock the
/// log turns back a writer that has not heard of it.
package final class Appender {
    package struct Configuration: Sendable {
        package var url: String
        /// Names this process in `log.batch`.
        package var node: String
        /// Words of one app and kind. Of devices and contexts an app may have ten times as many.
        package var mostWords: Int32
        /// New words of all kinds that one install, and one key, may bring within an hour, through all processes together.
        package var newWords = NewWords()
        /// The longest that one statement may take before the connection is given up.
        package var statementSeconds: Int

        /// See `newWords`.
        package struct NewWords: Sendable {
            package var ofInstall: Int32 = 500
            package var ofKey: Int32 = 10_000

            package init() {}
        }

        package init(
            url: String, node: String, mostWords: Int32 = 100_000, newWords: NewWords = NewWords(),
            statementSeconds: Int = 10
        ) {
            self.url = url
            self.node = node
            self.mostWords = mostWords
            self.newWords = newWords
            self.statementSeconds = statementSeconds
        }
    }

    private let configuration: Configuration
    private let allowance: RejectedAllowance
    private let log: Log
    private var connection: Connection?
    var words = WordCache()
    var combinations = CombinationCache()
    /// The first key of each app that was met.
    private var firstKeys: [Int32: Int32] = [:]
    /// Into how many shards the database divides its installs.
    private var shards: Int16 = 0
    private var batchIDs: Range<Int64> = 0..<0
    /// Looking ids up costs a tenth of the throughput, and most batches hold no repeat. So one goes in
    /// unasked, unless a repeat was met in the last few: what the unique index refuses is rolled back, and then asked for.
    private var batchesToProbe = 0
    private static let wary = 64
    /// The last failure was COPY's: PostgreSQL did not like a row.
    private var refusedRows = false
    private let months: PartitionRequests
    private var removed = RemovedHistory()
    /// The log may have lost something that `removed` does not know of.
    private var mayHaveNewRemovals = true
    /// What the last batch that was committed looked like, for the metrics.
    package private(set) var lastBatch: (number: Int64, events: Int)?

    package init(
        _ configuration: Configuration, allowance: RejectedAllowance, months: PartitionRequests = PartitionRequests(),
        log: Log
    ) {
        self.configuration = configuration
        self.allowance = allowance
        self.months = months
        self.log = log
    }

    /// Makes sure that there is a connection, or says why there cannot be one.
    package func connect() throws(PostgresError) {
        if connection?.isUsable == true { return }
        connection = nil
        var fresh = try LogSession.open(
            url: configuration.url, role: .ingest, purpose: "writer", log: log,
            statementSeconds: configuration.statementSeconds)
        fresh.deadline = .after(seconds: 10)
        // The probe is planned once, perhaps on an empty table, and must look each candidate up by the index whatever the
        // statistics say: its LIMIT forbids every other join, and these settings every other scan.
        try fresh.execute(
            script: """
                SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
                """)
        shards = try Shard.count(on: &fresh)
        fresh.deadline = .never
        connection = consume fresh
        // After a failover or a restore the new server may know other ids than the old one gave.
        batchIDs = 0..<0
        words = WordCache()
        combinations = CombinationCache()
        firstKeys = [:]
        removed = RemovedHistory()
        mayHaveNewRemovals = true
    }

    /// Stores what the submissions hold and says of each event, in order, what became of it. When this returns, it is
    /// committed; when it throws, nothing is promised and a retry will sort it out. Whether their keys are still open is not
    /// asked: for what an owner appends.
    package func append(_ submissions: [Submission]) throws(PostgresError) -> [[Verdict]] {
        let verdicts = try append(submissions, askingForKeys: false)
        return zip(submissions, verdicts).compactMap { submission, verdicts in verdicts?.each(of: submission) }
    }

    /// As `append`, but asks the key of each submission again when the commit is made: nil for one whose key is closed by
    /// then, of which nothing more is stored.
    package func appendWithOpenKeys(_ submissions: [Submission]) throws(PostgresError) -> [Verdicts?] {
        try append(submissions, askingForKeys: true)
    }

    private func append(_ submissions: [Submission], askingForKeys: Bool) throws(PostgresError) -> [Verdicts?] {
        try connect()
        var batch = PendingBatch(submissions)
        for tries in 1... {
            do {
                try learnRemoved()
                batch.begin(without: askingForKeys ? removed.closedKeys : [])
                batch.makeCandidates()
                try resolveWords(of: &batch)
                try resolveCombinations(of: &batch)
                try learnFirstKeys(of: submissions)
                batch.settleRepeats()
                months.note(batch.candidates.lazy.map(\.identity.deviceAt))
                try store(try settleRemoved(of: &batch)[...], in: &batch)
                var nothing: ArraySlice<PendingBatch.Candidate> = []
                if batch.hasSomethingToTell { try attempt(&nothing, in: &batch) }
                break
            } catch {
                for refusal in batch.unstoredRefusals { allowance.giveBack(refusal) }
                guard error.state == .historyRaised, connection != nil, tries < 10 else { throw error }
                // Something was taken away, a key was closed, or words were pruned: what is not committed begins anew.
                log.debug(
                    "retention, erasure or a revoked key overtook a batch: trying it again", ["error": "\(error)"])
                mayHaveNewRemovals = true
                words = WordCache()
                combinations = CombinationCache()
            }
        }
        guard let verdicts = batch.settledVerdicts else { throw .decoding("an event has no verdict") }
        return verdicts
    }

    /// Stores these candidates, in one batch if PostgreSQL takes them; else halves them until the culprit stands alone.
    /// Only what COPY itself refuses is an event's fault.
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

    /// One transaction, made again while another's commit crosses it. Takes out those candidates that are settled before.
    private func attempt(
        _ candidates: inout ArraySlice<PendingBatch.Candidate>, in batch: inout PendingBatch
    ) throws(PostgresError) {
        for index in candidates.indices { candidates[index].tie = 0 }
        var isRefusedThoughProbed = false
        for tries in 1... {
            let probes = tries > 1 || batchesToProbe > 0
            // ROLLBACK included: a server that stands still must not hold the writer.
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            if !removed.isEmpty {
                for refusal in batch.withdrawErased(by: removed) { allowance.giveBack(refusal) }
            }
            do throws(PostgresError) {
                return try commit(&candidates, probing: probes, breakingTies: isRefusedThoughProbed, in: &batch)
            } catch {
                if error.state == .uniqueViolation {
                    batchesToProbe = Appender.wary
                    if probes { isRefusedThoughProbed = true }
                }
                connection?.rollBack()
                // A server that became read-only is the old primary: look for the new one.
                if connection?.isUsable != true || error.state == .readOnlyTransaction { connection = nil }
                guard let state = error.state, mayHaveCrossed(state, tries) else { throw error }
                log.debug("another commit overtook a batch: trying it again", ["error": "\(error)"])
            }
        }
    }

    /// A unique violation is a retry that another node stored between our probe and our COPY: the next probe sees it. Or it
    /// is another event with the same hash: once a batch is refused of which nothing was known, ties are looked for and broken.
    /// A check violation may be a partition that was attached while we wrote into the default one; or the row's fault.
    private func mayHaveCrossed(_ state: SQLState, _ tries: Int) -> Bool {
        switch state {
        case .uniqueViolation, .serializationFailure, .deadlockDetected: tries < 10
        case .checkViolation: tries < 3
        default: false
        }
    }

    private func commit(
        _ candidates: inout ArraySlice<PendingBatch.Candidate>, probing: Bool, breakingTies: Bool,
        in batch: inout PendingBatch
    ) throws(PostgresError) {
        refusedRows = false
        let batchID = try nextBatchID()
        // The probe has a transaction opened; else COPY opens it on its way.
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
            let stored = try there(connection?.copyIn(isOpen ? EventRow.copy : Appender.beginAndCopy, rows))
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
                \(times?.greatest), \(tally.numbers), \(tally.rejected), \(removed.history))
            """)
        statements.append("COMMIT")
        CrashPoint.pass("numbering")
        let answers = try there(connection?.pipeline(statements))
        // The COMMIT of a transaction that had failed is answered with ROLLBACK, and is no error.
        guard answers[answers.count - 1].commandTag == "COMMIT" else {
            throw .connection("the commit was not confirmed")
        }
        // Trying again finds everything stored, and waits for the standby once more.
        guard connection?.takeGivenUpStandby() == false else {
            throw .connection("the standby did not confirm the commit")
        }
        if !news.refusals.isEmpty {
            let stored = try SideTables.storedRefusals(answers[refusals])
            for refusal in news.refusals where !stored.contains(refusal.identity) { allowance.giveBack(refusal) }
        }
        let number: Int64 = try answers[answers.count - 2][0].get(0)
        lastBatch = (number, rows.count)
        batchesToProbe = known.isEmpty ? max(0, batchesToProbe - 1) : Appender.wary
        batch.settle(candidates, known: known)
    }

    /// The numbering needs that each statement sees what is committed by then, whatever the database's default is.
    private static let begin: Statement = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

    private static let beginAndCopy = "\(begin.sql); \(EventRow.copy)"

    /// Opens the transaction and says which of the candidates, by their place, the log already holds; nil, and no transaction,
    /// where there are none.
    private func probe(_ candidates: ArraySlice<PendingBatch.Candidate>) throws(PostgresError) -> Set<Int>? {
        guard let probe = Probe.statement(candidates) else { return nil }
        return try Probe.places(try there(connection?.pipeline([Appender.begin, probe]))[1])
    }

    /// Tells events apart that have the same time and hash: each takes the least number that no other has. Gives those for
    /// which there is none; only who makes such hashes on purpose gets there.
    private func breakTies(
        of candidates: inout ArraySlice<PendingBatch.Candidate>, known: Set<Int>
    ) throws(PostgresError) -> [PendingBatch.Candidate] {
        struct Slot: Hashable {
            let time: Timestamp
            let hash: Int64
        }
        var taken: [Slot: Set<Int32>] = [:]
        var crowded: [PendingBatch.Candidate] = []
        // An erasure that is under way ends first, and the next one waits for this commit: it moves the ties of what is left.
        try there(connection?.queryPrepared("SELECT log.hold_ties()"))
        let rows = try there(connection?.queryPrepared(Probe.ties(candidates)))
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

    /// Asks what has been decided since the last time, where there may be something.
    private func learnRemoved() throws(PostgresError) {
        guard mayHaveNewRemovals else { return }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        guard connection != nil else { throw .connection("the connection was lost") }
        try connection?.learn(&removed)
        mayHaveNewRemovals = false
    }

    /// Settles the candidates that retention or erasure bars, and gives the others: those that the log still holds are
    /// repeats, the others are refused. By what is known here; if that is not all, the commit is turned back.
    ///
    /// No barred one is left for the unique index to find: when it is asked, the stored one may be gone.
    private func settleRemoved(of batch: inout PendingBatch) throws(PostgresError) -> [PendingBatch.Candidate] {
        guard !removed.isEmpty else { return batch.candidates }
        var (sound, barred): ([PendingBatch.Candidate], [PendingBatch.Candidate]) = ([], [])
        var rejections: [Rejection] = []
        for candidate in batch.candidates {
            let event = batch.submissions[candidate.submission].envelope.events[candidate.event]
            if let rejection = removed.rejection(
                of: event, install: candidate.identity.install, app: candidate.identity.app)
            {
                barred.append(candidate)
                rejections.append(rejection)
            } else {
                sound.append(candidate)
            }
        }
        guard let probe = Probe.statement(barred[...]) else { return batch.candidates }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        let known = try Probe.places(try there(connection?.queryPrepared(probe)))
        for (index, candidate) in barred.enumerated() {
            if known.contains(index) {
                batch.settleKnown(candidate)
            } else {
                batch.reject(candidate, rejections[index])
            }
        }
        return sound
    }

    /// There is a connection from `connect` on, until it is lost.
    @discardableResult
    private func there<Answer>(_ answer: Answer?) throws(PostgresError) -> Answer {
        guard let answer else { throw .connection("the connection was lost") }
        return answer
    }

    private func nextBatchID() throws(PostgresError) -> Int64 {
        if batchIDs.isEmpty {
            let first: Int64 = try there(connection?.queryPrepared("SELECT nextval('log.batch_id')"))[0].get(0)
            batchIDs = first..<(first + 64)
        }
        defer { batchIDs.removeFirst() }
        return batchIDs.lowerBound
    }

    /// Has those refusals kept that the day still has room for; the others are counted only.
    private func admitRefusals(of batch: inout PendingBatch) throws(PostgresError) {
        var kept: [Refusal] = []
        for refusal in batch.takeFreshRefusals() {
            let (app, time) = (refusal.app, refusal.receivedAt)
            if allowance.isUnknown(app: app, at: time) {
                let row = try there(connection?.query(SideTables.countRejected(app: app, day: time)))[0]
                allowance.learn(
                    app: app, at: time, rows: Int(try row.get(0, as: Int64.self)),
                    bytes: Int(try row.get(1, as: Int64.self)))
            }
            if allowance.take(refusal) { kept.append(refusal) }
        }
        batch.keep(kept)
    }

    /// Keys are never deleted, so the first one of an app stays the first.
    private func learnFirstKeys(of submissions: [Submission]) throws(PostgresError) {
        let unknown = Set(submissions.map(\.app)).subtracting(firstKeys.keys)
        guard !unknown.isEmpty else { return }
        connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
        defer { connection?.deadline = .never }
        let rows = try there(
            connection?.queryPrepared(
                "SELECT app, min(id) FROM log.api_key WHERE app = ANY (\(unknown.sorted())) GROUP BY app"))
        for row in rows { firstKeys[try row.get(0)] = try row.get(1) }
    }

    /// Gives every event the ids of its device and context, where there is room for them.
    private func resolveCombinations(of batch: inout PendingBatch) throws(PostgresError) {
        let unknown = batch.combineCandidates(combinations)
        guard !unknown.isEmpty else { return }
        var learned: [Combination: Int32] = [:]
        for (group, asked) in unknown {
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            let width = Combination.width(of: group.dictionary)
            let members = asked.flatMap { combination in (0..<width).map { combination.members[$0] } }
            let rows = try there(
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

    /// Gives every event the ids of its words, that of the reserved one where a word is not learned.
    private func resolveWords(of batch: inout PendingBatch) throws(PostgresError) {
        var learned: [WordCache.Key: PendingBatch.Lesson] = [:]
        for (group, words) in batch.nameCandidates(&words) {
            connection?.deadline = .after(seconds: Double(configuration.statementSeconds) + 2)
            defer { connection?.deadline = .never }
            let rows = try there(
                connection?.queryPrepared(
                    """
                    SELECT value, id, is_other FROM log.learn_words(
                        \(group.app), \(group.kind.rawValue), \(words.keys.map(\.text)), \(words.values.map(\.key)),
                        \(words.values.map(\.install)), \(configuration.mostWords), \(configuration.newWords.ofInstall),
                        \(configuration.newWords.ofKey))
                    """))
            for row in rows {
                learned[WordCache.Key(app: group.app, kind: group.kind, word: Word(try row.get(0)))] =
                    PendingBatch.Lesson(id: try row.get(1), isOther: try row.get(2))
            }
        }
        // What was not learned today may be tomorrow.
        for (key, lesson) in learned where !lesson.isOther { words.insert(lesson.id, for: key) }
        try batch.completeCandidates(learned)
        CrashPoint.pass("named")
    }
}

extension Connection {
    /// As a method, since what an optional holds cannot be lent `inout`.
    fileprivate mutating func learn(_ removed: inout RemovedHistory) throws(PostgresError) {
        try removed.refresh(on: &self)
    }
}
