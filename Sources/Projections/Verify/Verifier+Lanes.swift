package import Postgres
internal import ServiceRuntime

extension Verifier {
    /// Verifies on several connections at once, each recounting its own shard: the processor is the limit, and one connection
    /// keeps one core busy. `open` is called on several threads.
    package func verify(
        _ generation: Generation = .live, shards: [Int16]? = nil, lanes: Int,
        cancellation: Cancellation = Cancellation(),
        opening open: @escaping @Sendable () throws -> Connection,
        progress: @escaping @Sendable (Step) -> Void = { _ in }
    ) throws -> VerificationReport {
        let chosen = try shards ?? Verifier.shards(opening: open)
        let round = Lock(Round())
        let workers = (0..<min(lanes, chosen.count)).map { lane in
            Worker(name: "verify \(lane)") {
                do {
                    var connection = try open()
                    while let index = round.withLock({ round in round.next(of: chosen, progress) }) {
                        let report = try cancellation.during(&connection) { connection in
                            try verify(generation, shards: [chosen[index]], on: &connection)
                        }
                        round.withLock { round in round.reports[index] = report }
                    }
                } catch { round.withLock { round in round.failure = round.failure ?? error } }
            }
        }
        for worker in workers { worker.join() }
        return try round.withLock { round in
            if let failure = round.failure { throw failure }
            var whole = VerificationReport()
            for index in chosen.indices {
                if let report = round.reports[index] { whole.add(report, atMost: mostDifferences) }
            }
            return whole
        }
    }

    private static func shards(opening open: () throws -> Connection) throws -> [Int16] {
        var connection = try open()
        return try shards(on: &connection)
    }

    /// Which shards are left, and what was found so far.
    private struct Round {
        var begun = 0
        var reports: [Int: VerificationReport] = [:]
        var failure: (any Error)?

        /// Returns nothing more after a failure. Reports the shards in the order in which they begin.
        mutating func next(of shards: [Int16], _ progress: (Step) -> Void) -> Int? {
            guard failure == nil, begun < shards.count else { return nil }
            defer { begun += 1 }
            progress(Step(shard: shards[begun], place: begun + 1, count: shards.count))
            return begun
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
        for omission in other.omissions { note(omission) }
        for move in other.moves { note(move) }
    }
}
