internal import Envelopes
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// The last stage of a commit: unique events become rows of a numbered batch, in one transaction if PostgreSQL takes
/// them all.
struct Storing {
    /// Probing costs a tenth of the throughput, and most batches have no repeats. So a batch is stored without a probe
    /// unless one of the last few had a repeat. If the unique index refuses it, the batch is rolled back and then
    /// probed.
    private var batchesToProbe = 0
    private static let batchesToProbeAfterRepeat = 64
    /// Whether the last failure was a row that COPY did not accept.
    private var refusedRows = false
    /// Number and size of the last committed batch.
    private(set) var lastBatch: (number: Int64, events: Int)?
    private let node: String
    private let allowance: RejectedAllowance
    private let log: Log
    private let watch: PhaseWatch<CommitPhase>?

    init(node: String, allowance: RejectedAllowance, log: Log, watch: PhaseWatch<CommitPhase>?) {
        (self.node, self.allowance, self.log, self.watch) = (node, allowance, log, watch)
    }

    /// Stores these events. If PostgreSQL does not take them, it halves them until it finds the event at fault. Only an
    /// error of COPY itself is an event's fault.
    mutating func store(
        _ events: UniqueEvents, in ledger: inout Ledger, on session: AppendSession
    ) throws(PostgresError) {
        guard !events.candidates.isEmpty else { return }
        var events = events
        do {
            try attempt(&events, in: &ledger, on: session)
        } catch {
            guard refusedRows, let state = error.state, state.blamesData, state != .uniqueViolation else { throw error }
            if events.candidates.count == 1 {
                log.error("PostgreSQL refused an event that had passed validation", ["error": "\(error)"])
                let rejection = Rejection(.unstorable, "PostgreSQL refused it (SQLSTATE \(state))")
                return ledger.reject(events.candidates[0], rejection, in: events)
            }
            let (left, right) = events.halves
            try store(left, in: &ledger, on: session)
            try store(right, in: &ledger, on: session)
        }
    }

    /// Records what the ledger has besides events, if it still has something.
    mutating func storeRest(in ledger: inout Ledger, on session: AppendSession) throws(PostgresError) {
        guard ledger.hasSomethingToTell else { return }
        var none = UniqueEvents([])
        try attempt(&none, in: &ledger, on: session)
    }

    /// Runs one transaction, and repeats it while it crosses another writer's commit. Takes out candidates that get a
    /// verdict before.
    private mutating func attempt(
        _ events: inout UniqueEvents, in ledger: inout Ledger, on session: AppendSession
    ) throws(PostgresError) {
        var isRefusedThoughProbed = false
        events.clear(ties: true)
        for tries in 1... {
            let probes = tries > 1 || batchesToProbe > 0
            do throws(PostgresError) {
                // Includes the ROLLBACK.
                return try session.timed { session throws(PostgresError) -> Void in
                    if !session.removed.isEmpty {
                        for refusal in ledger.removeErased(by: session.removed) { allowance.giveBack(refusal) }
                    }
                    do throws(PostgresError) {
                        try commit(
                            &events, probing: probes, breakingTies: isRefusedThoughProbed, in: &ledger, on: session)
                    } catch {
                        session.connection.rollBack()
                        throw error
                    }
                }
            } catch {
                if error.state == .uniqueViolation {
                    batchesToProbe = Storing.batchesToProbeAfterRepeat
                    if probes { isRefusedThoughProbed = true }
                }
                guard let state = error.state, Appender.mayHaveCrossed(state, tries) else { throw error }
                guard session.connection.isUsable else { throw .connection("the connection was lost") }
                log.debug("another commit overtook a batch: trying it again", ["error": "\(error)"])
            }
        }
    }

    /// One transaction.
    private mutating func commit(
        _ events: inout UniqueEvents, probing: Bool, breakingTies: Bool, in ledger: inout Ledger,
        on session: AppendSession
    ) throws(PostgresError) {
        refusedRows = false
        watch?.enter(.probe)
        let batchID = try session.nextBatchID()
        // The probe opens the transaction; without a probe, COPY does.
        var isOpen = try probing ? probe(&events, on: session) : false
        CrashPoint.pass("begun")
        if breakingTies {
            let crowded = try session.breakTies(of: &events.candidates)
            guard crowded.isEmpty else {
                for candidate in crowded {
                    ledger.reject(
                        candidate, Rejection(.unstorable, "at: 16 other events have this time and its hash"), in: events
                    )
                }
                session.connection.rollBack()
                return try commit(&events, probing: true, breakingTies: true, in: &ledger, on: session)
            }
        }
        watch?.enter(.copy)
        let receivedAt = ledger.submissions.lazy.map(\.envelope.receivedAt).min()
        let written = RowWriting(
            events, of: ledger.submissions, batchID: batchID, receivedAt: receivedAt, firstKeys: session.firstKeys,
            shards: session.shards)
        if written.rows.count > 0 {
            refusedRows = true
            let stored = try session.connection.copyIn(isOpen ? EventRow.copy : Storing.beginAndCopy, written.rows)
            isOpen = true
            refusedRows = false
            guard stored == written.rows.count else {
                throw .decoding("COPY took \(stored) of \(written.rows.count) rows")
            }
            CrashPoint.pass("copied")
        }
        try admitRefusals(of: &ledger, on: session)
        let news = ledger.news(of: events)
        var statements: [Statement] = isOpen ? [] : [Storing.begin]
        let refusals = statements.count
        if !news.refusals.isEmpty { statements.append(SideTables.insertRefusals(news.refusals, batchID: batchID)) }
        if !news.drops.isEmpty { statements.append(SideTables.insertDrops(news.drops, batchID: batchID)) }
        let tally = news.tally.parameters
        statements.append(
            """
            SELECT log.add_batch(
                \(batchID), \(node), \(Int32(written.rows.count)), \(receivedAt), \(written.shardEvents),
                \(written.least), \(written.greatest), \(tally.numbers), \(tally.rejected), \(session.removed.history)),
                extract(epoch FROM clock_timestamp() - statement_timestamp())::float8
            """)
        statements.append("COMMIT")
        CrashPoint.pass("numbering")
        let answers = try numberAndCommit(statements, on: session)
        // COMMIT of a failed transaction is answered with ROLLBACK, and without an error.
        guard answers[answers.count - 1].commandTag == "COMMIT" else {
            throw .connection("the commit was not confirmed")
        }
        // The next try finds everything stored, and waits for the standby again.
        guard !session.connection.takeGivenUpStandby() else {
            throw .connection("the standby did not confirm the commit")
        }
        if !news.refusals.isEmpty {
            let stored = try SideTables.storedRefusals(answers[refusals])
            for refusal in news.refusals where !stored.contains(refusal.identity) { allowance.giveBack(refusal) }
        }
        lastBatch = (try answers[answers.count - 2][0].get(0), written.rows.count)
        let hasKnown = written.rows.count < events.candidates.count
        batchesToProbe = hasKnown ? Storing.batchesToProbeAfterRepeat : max(0, batchesToProbe - 1)
        ledger.settle(events)
    }

    /// Both go to the server at once, so the server tells how long the numbering took: PostgreSQL computes the columns
    /// of its row one after another.
    private func numberAndCommit(
        _ statements: [Statement], on session: AppendSession
    ) throws(PostgresError) -> [Rows] {
        watch?.enter(.commit)
        do {
            let answers = try session.connection.pipeline(statements)
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

    /// Opens the transaction and marks the candidates that the log has. Without candidates it returns false and opens
    /// nothing.
    private func probe(_ events: inout UniqueEvents, on session: AppendSession) throws(PostgresError) -> Bool {
        events.clear()
        guard let probe = Probe.statement(events.candidates) else { return false }
        for index in try Probe.places(try session.connection.pipeline([Storing.begin, probe])[1]) {
            events.candidates[index].isKnown = true
        }
        return true
    }

    /// Keeps those rejected events for which today's allowance has room; the others are only counted.
    private func admitRefusals(of ledger: inout Ledger, on session: AppendSession) throws(PostgresError) {
        var kept: [Refusal] = []
        for refusal in ledger.takeFreshRefusals() {
            let (app, time) = (refusal.app, refusal.receivedAt)
            if allowance.isUnknown(app: app, at: time) {
                let row = try session.connection.query(SideTables.countRejected(app: app, day: time))[0]
                allowance.learn(
                    app: app, at: time, rows: Int(try row.get(0, as: Int64.self)),
                    bytes: Int(try row.get(1, as: Int64.self)))
            }
            if allowance.take(refusal) { kept.append(refusal) }
        }
        ledger.keep(kept)
    }
}

extension UniqueEvents {
    /// Forgets what an earlier try found out: what the log has, and the ties if these are to be found anew.
    fileprivate mutating func clear(ties: Bool = false) {
        for index in candidates.indices {
            if candidates[index].isKnown { candidates[index].isKnown = false }
            if ties, candidates[index].tie != 0 { candidates[index].tie = 0 }
        }
    }
}
