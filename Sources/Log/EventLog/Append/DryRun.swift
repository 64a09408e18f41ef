internal import Envelopes
package import Postgres
internal import Telemetry

/// Returns the verdicts that a submission would get now. It checks what the appender checks, stores nothing and learns
/// no word.
package enum DryRun {
    /// The verdicts of its events, all as of one moment. It cannot foresee what PostgreSQL itself would refuse
    /// (`unstorable`).
    package static func verdicts(
        of submission: Submission, on connection: inout Connection
    ) throws(PostgresError) -> Verdicts {
        var ledger = Ledger([submission])
        let unique = UniqueEvents(ledger.candidates)
        let candidates = unique.candidates
        guard let probe = Probe.statement(candidates) else { return Verdicts(count: 0, exceptions: []) }
        let answers = try connection.pipeline(
            [begin, settings, probe]
                + RemovedHistory.questions(of: Set(candidates.map(\.identity.install)), app: submission.app) + [
                    "COMMIT"
                ])
        let known = try Probe.places(answers[2])
        let removed = try RemovedHistory(answers: answers[3...4])
        for (index, candidate) in candidates.enumerated() {
            if known.contains(index) {
                ledger.settleKnown(candidate, in: unique)
            } else if let rejection = removed.rejection(
                of: submission.envelope.events[candidate.place.event], install: candidate.identity.install,
                app: submission.app)
            {
                ledger.reject(candidate, rejection, in: unique)
            } else {
                ledger.accept(candidate, in: unique)
            }
        }
        guard case .settled(let verdicts)? = ledger.settlements?.first else {
            throw .decoding("an event has no verdict")
        }
        return verdicts
    }

    private static let begin: Statement = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    /// As for a writer: the probe looks each event up by the index, whatever the statistics say.
    private static let settings: Statement = """
        SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
            set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)
        """
}
