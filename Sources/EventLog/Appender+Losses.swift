package import Postgres
internal import Telemetry

extension Appender {
    /// As `append`, but asks the key of each submission again when the commit is made: nil for one whose key is closed by
    /// then. Nothing of those is stored.
    package func appendWithOpenKeys(_ submissions: [Submission]) throws(PostgresError) -> [[Verdict]?] {
        asksKeys = true
        defer { asksKeys = false }
        while true {
            let open = submissions.indices.filter { !losses.closedKeys.contains(submissions[$0].key) }
            hasMetClosedKey = false
            do {
                var verdicts = [[Verdict]?](repeating: nil, count: submissions.count)
                for (place, settled) in zip(open, try append(open.map { submissions[$0] })) {
                    verdicts[place] = settled
                }
                return verdicts
            } catch {
                // Without those that came with it; what of the others was stored is found there.
                guard hasMetClosedKey else { throw error }
            }
        }
    }

    /// Settles the candidates that retention or erasure bars, and takes them out: those that the log still holds are
    /// repeats, the others are refused. By what is known here; if that is not all, the commit is turned back.
    ///
    /// No barred one is left for the unique index to find: when it is asked, the stored one may be gone.
    func settleLost(
        _ candidates: inout ArraySlice<PendingBatch.Candidate>, in batch: inout PendingBatch,
        on connection: inout Connection
    ) throws(PostgresError) {
        if mayHaveNewLosses {
            try losses.refresh(on: &connection)
            mayHaveNewLosses = false
        }
        if asksKeys, !losses.closedKeys.isEmpty,
            batch.submissions.contains(where: { losses.closedKeys.contains($0.key) })
        {
            hasMetClosedKey = true
            throw .decoding("a key was closed before its events were committed")
        }
        guard !losses.isEmpty else { return }
        var (sound, barred): ([PendingBatch.Candidate], [PendingBatch.Candidate]) = ([], [])
        var rejections: [Rejection] = []
        for candidate in candidates {
            let submission = batch.submissions[candidate.submission]
            if let rejection = losses.rejection(of: submission.events[candidate.event], app: submission.app) {
                barred.append(candidate)
                rejections.append(rejection)
            } else {
                sound.append(candidate)
            }
        }
        if let probe = Probe.statement(barred[...]) {
            let known = try Probe.places(try connection.queryPrepared(probe))
            for (place, candidate) in barred.enumerated() {
                if known.contains(place) {
                    batch.settleKnown(candidate)
                } else {
                    batch.reject(candidate, rejections[place])
                }
            }
            candidates = sound[...]
        }
        for refusal in batch.withdrawErased(by: losses) { allowance.giveBack(refusal) }
    }
}
