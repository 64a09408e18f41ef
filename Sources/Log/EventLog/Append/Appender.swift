internal import Envelopes
package import Postgres
package import ServiceRuntime
internal import Telemetry

/// Appends to the log, one commit at a time. One thread uses it. If its connection is lost, it opens a new one.
///
/// A commit is a few stages with values in between:
///
///     submissions ─Ledger─▶ [Candidate] ─WordResolver─▶ Naming ──▶ UniqueEvents ─Storing─▶ rows ─Ledger─▶ verdicts
///
/// Words become ids (`Naming`). Repeats within the batch, and events that were removed for good, are taken out
/// (`UniqueEvents`). The rest is stored by COPY, in a fixed order so that two nodes with crossed retries cannot
/// deadlock; events that the log has are found, and the batch takes its number under the lock of the head, and commits
/// (`Storing`). There the log turns back a writer that does not know the newest history.
package final class Appender {
    private let configuration: Configuration
    private let allowance: RejectedAllowance
    private let log: Log
    private let watch: PhaseWatch<CommitPhase>?
    private let months: PartitionRequests
    private var session: AppendSession?
    var resolver = WordResolver()
    private var storing: Storing
    /// The epoch of the map of shards that it knows; 0 outside a cluster.
    package var epoch: Int64 { session?.removed.epoch ?? 0 }
    /// Number and size of the last committed batch, for the metrics.
    package var lastBatch: (number: Int64, events: Int)? { storing.lastBatch }

    package init(
        _ configuration: Configuration, allowance: RejectedAllowance, months: PartitionRequests = PartitionRequests(),
        log: Log, watch: PhaseWatch<CommitPhase>? = nil
    ) {
        self.configuration = configuration
        self.allowance = allowance
        self.months = months
        self.log = log
        self.watch = watch
        storing = Storing(node: configuration.node, allowance: allowance, log: log, watch: watch)
    }

    /// Makes sure that there is a connection, or throws why there cannot be one.
    package func connect() throws(PostgresError) { _ = try connected() }

    private func connected() throws(PostgresError) -> AppendSession {
        if let session, session.connection.isUsable { return session }
        session = nil
        let fresh = try AppendSession(configuration, log: log)
        resolver.forget()
        session = fresh
        return fresh
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
        let session = try connected()
        var ledger = Ledger(submissions)
        for tries in 1... {
            do {
                if try commit(&ledger, checks, on: session) { break }
            } catch {
                for refusal in ledger.unstoredRefusals { allowance.giveBack(refusal) }
                // A server that became read-only is the old primary: look for the new one.
                if !session.connection.isUsable || error.state == .readOnlyTransaction { self.session = nil }
                guard error.state == .historyRaised, self.session != nil, tries < 10 else { throw error }
                // Something was removed, a key was closed, or words were pruned: what is not committed starts again.
                log.debug(
                    "retention, erasure, a revoked key or a new map overtook a batch: trying it again",
                    ["error": "\(error)"])
                session.mayHaveNewRemovals = true
                resolver.forget()
            }
        }
        guard let settlements = ledger.settlements else { throw .decoding("an event has no verdict") }
        return settlements
    }

    /// Takes what no commit has settled through all stages. Returns false if it must be done again, with a newer map.
    private func commit(
        _ ledger: inout Ledger, _ checks: Checks, on session: AppendSession
    ) throws(PostgresError) -> Bool {
        watch?.enter(.words)
        let submissions = ledger.submissions
        let isNews = try session.learnRemoved()
        try session.learnFirstKeys(of: submissions)
        ledger.begin(without: session.exclusions(from: submissions, checks))
        if ledger.isForElsewhere, !isNews {
            // The sender used a different map, maybe a newer one. An empty batch commits nothing, so only reading the
            // map again tells.
            session.mayHaveNewRemovals = true
            return false
        }
        let named = try resolver.name(ledger.candidates, of: submissions, under: configuration, on: session)
        var unique = UniqueEvents(named.candidates, loose: named.loose)
        months.note(unique.candidates.lazy.map(\.identity.deviceAt))
        try settleRemoved(of: &unique, in: &ledger, on: session)
        try storing.store(unique, in: &ledger, on: session)
        try storing.storeRest(in: &ledger, on: session)
        return true
    }

    /// Gives verdicts to events from before an erasure or from a closed month, and takes them out. Such an event is a
    /// duplicate if the log still has it, and is rejected otherwise. It uses what this writer knows; if that is not the
    /// newest history, the log turns the commit back.
    ///
    /// No such event may be left for the unique index: by then the stored one may be gone.
    private func settleRemoved(
        of unique: inout UniqueEvents, in ledger: inout Ledger, on session: AppendSession
    ) throws(PostgresError) {
        let removed = unique.takeRemoved(by: session.removed, of: ledger.submissions)
        guard let probe = Probe.statement(removed.map(\.candidate)) else { return }
        let rows = try session.timed { session throws(PostgresError) in try session.connection.queryPrepared(probe) }
        let known = try Probe.places(rows)
        for (index, event) in removed.enumerated() {
            if known.contains(index) {
                ledger.settleKnown(event.candidate, in: unique)
            } else {
                ledger.reject(event.candidate, event.rejection, in: unique)
            }
        }
    }
}
