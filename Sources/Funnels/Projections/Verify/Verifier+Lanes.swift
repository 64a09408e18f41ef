package import Postgres
internal import ServiceRuntime

extension Verifier {
    /// Verifies on several connections at once, each recounting its own shards: the processor is the limit, and one
    /// connection keeps one core busy. `open` is called on several threads. What is found in all shards of the live
    /// funnels is noted (`Proof`).
    package func verify(
        _ generation: Generation = .live, shards: [Int16]? = nil, lanes: Int,
        cancellation: Cancellation = Cancellation(),
        opening open: @escaping @Sendable () throws -> Connection,
        progress: @escaping @Sendable (Step) -> Void = { _ in }
    ) throws -> VerificationReport {
        let (sets, beginning) = try begin(generation, shards, lanes: lanes, opening: open)
        let count = sets.reduce(0) { $0 + $1.shards.count }
        let round = Lock(Round())
        let workers = (0..<min(lanes, sets.count)).map { lane in
            Worker(name: "verify \(lane)") {
                do {
                    var connection = try open()
                    while let index = round.withLock({ round in round.next(of: sets) }) {
                        let report = try cancellation.during(&connection) { connection in
                            var report = VerificationReport(since: since)
                            try verify(generation, set: sets[index], into: &report, on: &connection) { shard in
                                // Reported in the order in which they begin.
                                round.withLock { round in
                                    round.begun += 1
                                    progress(Step(shard: shard, place: round.begun, count: count))
                                }
                            }
                            return report
                        }
                        round.withLock { round in round.reports[index] = report }
                    }
                } catch { round.withLock { round in round.failure = round.failure ?? error } }
            }
        }
        for worker in workers { worker.join() }
        let report = try round.withLock { round in
            if let failure = round.failure { throw failure }
            var whole = VerificationReport(since: since)
            for index in sets.indices {
                if let report = round.reports[index] { whole.add(report, atMost: mostDifferences) }
            }
            return whole
        }
        if let beginning {
            var connection = try open()
            try beginning.note(report, on: &connection)
        }
        return report
    }

    /// What is to be verified, and how to note it if that is everything.
    private func begin(
        _ generation: Generation, _ shards: [Int16]?, lanes: Int, opening open: () throws -> Connection
    ) throws -> ([ShardSet], Proof.Beginning?) {
        var connection = try open()
        let all = try Verifier.shards(on: &connection)
        for shard in shards ?? [] where !all.contains(shard) { throw VerifierError.unknownShard(shard) }
        let sets = try sets(of: shards ?? all, lanes: lanes, on: &connection)
        guard case .live = generation, shards == nil, recounts.count == Recounts.all.count else { return (sets, nil) }
        return (sets, try Proof.Beginning(on: &connection))
    }

    /// Which sets are left, and what was found so far.
    private struct Round {
        /// Shards that have begun.
        var begun = 0
        var taken = 0
        var reports: [Int: VerificationReport] = [:]
        var failure: (any Error)?

        /// Returns nothing more after a failure.
        mutating func next(of sets: [ShardSet]) -> Int? {
            guard failure == nil, taken < sets.count else { return nil }
            defer { taken += 1 }
            return taken
        }
    }
}

extension VerificationReport {
    /// Adds what was found in other shards.
    fileprivate mutating func add(_ other: VerificationReport, atMost most: Int) {
        shards += other.shards
        events += other.events
        deliveries += other.deliveries
        cells += other.cells
        for (table, cells) in other.differing { count(differing: cells, of: table) }
        differences += other.differences.prefix(most - differences.count)
        gaps += other.gaps.prefix(most - gaps.count)
        gapCount += other.gapCount
        isUnderOlderWords = isUnderOlderWords || other.isUnderOlderWords
        for omission in other.omissions { note(omission) }
        for move in other.moves { note(move) }
    }
}
