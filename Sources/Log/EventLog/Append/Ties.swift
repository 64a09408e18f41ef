internal import Postgres
internal import Values

extension AppendSession {
    /// Distinguishes events with the same time and hash: each that is not known takes the lowest free tie. Takes out
    /// and returns the events for which none is free; that takes hashes that somebody made on purpose.
    func breakTies(of candidates: inout [Candidate]) throws(PostgresError) -> [Candidate] {
        struct Slot: Hashable {
            let time: Timestamp
            let hash: Int64
        }
        var taken: [Slot: Set<Int32>] = [:]
        var crowded: [Candidate] = []
        // Waits for an erasure that is running. The next one waits for this commit, since an erasure moves the ties of
        // the remaining events.
        _ = try connection.queryPrepared("SELECT log.hold_ties()")
        let rows = try connection.queryPrepared(Probe.ties(candidates))
        for index in candidates.indices where !candidates[index].isKnown {
            let others: [Int32] = try rows[index].get(1)
            let slot = Slot(time: candidates[index].identity.deviceAt, hash: try rows[index].get(0))
            taken[slot, default: []].formUnion(others)
            guard let tie = (0..<16).first(where: { taken[slot]?.contains($0) == false }) else {
                crowded.append(candidates[index])
                continue
            }
            taken[slot]?.insert(tie)
            candidates[index].tie = Int16(tie)
        }
        if !crowded.isEmpty {
            let refused = Set(crowded.map(\.identity))
            candidates.removeAll { refused.contains($0.identity) }
        }
        return crowded
    }
}
