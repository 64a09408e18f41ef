package import Postgres
package import Values

/// Checks the funnels in an independent way: it counts them again from raw events and compares every cell.
///
/// ```swift
/// let report = try Verifier().verify(on: &connection) { step in show(step) }
/// ```
///
/// All days are compared, or those from one day on (`ProvedDays`), at the price of their events.
///
/// It goes shard by shard, each at the generation's position in that shard, in one snapshot, while readers and writers
/// go on. It needs an owner's rights, uses only temporary tables, and leaves nothing behind.
package struct Verifier: Sendable {
    let recounts: [Recount]
    /// The first of the days that are proved; nil for all.
    let since: CivilDate?
    let mostDifferences: Int
    let mostDeliveries: Int
    let eventsPerTable: Int64

    /// `mostDifferences` limits how many differing cells, and how many batches, are listed; `mostDeliveries` limits the
    /// deliveries listed for each cell. Shards share a table of the copy up to `eventsPerTable`: to create one costs as
    /// much as to read so many rows that are not needed.
    package init(
        recounts: [Recount] = Recounts.all, since: CivilDate? = nil, mostDifferences: Int = 20,
        mostDeliveries: Int = 5, eventsPerTable: Int64 = 10_000
    ) {
        (self.recounts, self.since) = (recounts, since)
        precondition(mostDifferences > 0, "at least one difference must be shown")
        self.mostDifferences = mostDifferences
        self.mostDeliveries = mostDeliveries
        self.eventsPerTable = eventsPerTable
    }

    /// Which generation to verify.
    package enum Generation: Sendable {
        /// The generation that analysts read.
        case live
        case number(Int32)
    }

    /// Reported before a shard is recounted.
    package struct Step: Sendable {
        package let shard: Int16
        /// The number of this shard in the run, from 1, and how many there are.
        package let place: Int
        package let count: Int
    }

    /// Recounts these shards, or all of them.
    package func verify(
        _ generation: Generation = .live, shards: [Int16]? = nil, on connection: inout Connection,
        progress: (Step) throws -> Void = { _ in }
    ) throws(VerifierError) -> VerificationReport {
        var report = VerificationReport(since: since)
        do {
            let all = try Verifier.shards(on: &connection)
            for shard in shards ?? [] where !all.contains(shard) { throw VerifierError.unknownShard(shard) }
            let chosen = shards ?? all
            var begun = 0
            for set in try sets(of: chosen, on: &connection) {
                try verify(generation, set: set, into: &report, on: &connection) { shard in
                    begun += 1
                    try progress(Step(shard: shard, place: begun, count: chosen.count))
                }
            }
        } catch let error as VerifierError { throw error } catch let error as PostgresError {
            throw .database(error)
        } catch { throw .database(.decoding("\(error)")) }
        return report
    }

    /// Shards that are copied together, in one pass over the log.
    struct ShardSet {
        let shards: [Int16]
        /// How many shards share a table of the copy.
        let perTable: Int
    }

    /// Puts as many shards into a set as have so many events. At least as many sets as there are lanes, if that pays.
    func sets(
        of shards: [Int16], lanes: Int = 1, on connection: inout Connection
    ) throws(PostgresError) -> [ShardSet] {
        let first = try since.map { day throws(PostgresError) in try ProvedDays(since: day, on: &connection).firstBatch
        }
        let perShard: Int64 = try connection.query(
            """
            SELECT (coalesce(sum(events), 0) / (SELECT shards FROM log.head))::bigint FROM log.batch
            WHERE number >= \(first ?? 1)
            """
        ).value()
        let affordable = Int(clamping: Self.mostEvents / max(1, perShard))
        let perTable = max(1, Int(clamping: eventsPerTable / max(1, perShard)))
        let size = max(1, min(affordable, max(perTable, (shards.count + lanes - 1) / lanes)))
        return stride(from: 0, to: shards.count, by: size).map {
            ShardSet(shards: Array(shards[$0..<min($0 + size, shards.count)]), perTable: perTable)
        }
    }

    /// A copy of more events does not pay for reading the log less often.
    private static let mostEvents: Int64 = 8_000_000

    /// The shards of the log.
    package static func shards(on connection: inout Connection) throws(PostgresError) -> [Int16] {
        let count: Int16 = try connection.query("SELECT shards FROM log.head").value()
        return Array(0..<count)
    }
}

/// Why nothing could be verified.
package enum VerifierError: Error, CustomStringConvertible {
    case unknownGeneration(Verifier.Generation)
    case unknownShard(Int16)
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unknownGeneration(.live): "no live projections to verify: see bellwether rebuild"
        case .unknownGeneration(.number(let generation)):
            "there is no generation \(generation) of projections, or it has no such shard"
        case .unknownShard(let shard): "the log has no shard \(shard)"
        case .database(let error): error.description
        }
    }
}

extension VerifierError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }
}
