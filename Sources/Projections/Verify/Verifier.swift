package import Postgres

/// Proves the funnels by another route than the one by which they were made: it counts them anew from raw events and
/// compares every cell.
///
/// ```swift
/// let report = try Verifier().verify(on: &connection) { step in show(step) }
/// ```
///
/// Shard by shard, each at the position where the generation stands in it, in one snapshot: readers and writers go on. It needs
/// an owner's rights, keeps what it makes in temporary tables, and leaves nothing behind.
package struct Verifier: Sendable {
    let recounts: [Recount]
    let mostDifferences: Int
    let mostDeliveries: Int

    /// `mostDifferences` bounds the differing cells, and the batches, that are told one by one; `mostDeliveries` the
    /// deliveries behind each.
    package init(recounts: [Recount] = Recounts.all, mostDifferences: Int = 20, mostDeliveries: Int = 5) {
        self.recounts = recounts
        precondition(mostDifferences > 0, "at least one difference must be shown")
        self.mostDifferences = mostDifferences
        self.mostDeliveries = mostDeliveries
    }

    /// Which fold of the log to prove.
    package enum Generation: Sendable {
        /// The one that analysts read.
        case live
        case number(Int32)
    }

    /// A shard is about to be recounted.
    package struct Step: Sendable {
        package let shard: Int16
        /// Which of the shards it is, from 1, and of how many.
        package let place: Int
        package let count: Int
    }

    /// Recounts these shards, or all.
    package func verify(
        _ generation: Generation = .live, shards: [Int16]? = nil, on connection: inout Connection,
        progress: (Step) throws -> Void = { _ in }
    ) throws(VerifierError) -> VerificationReport {
        var report = VerificationReport()
        do {
            let all = try Verifier.shards(on: &connection)
            for shard in shards ?? [] where !all.contains(shard) { throw VerifierError.unknownShard(shard) }
            let chosen = shards ?? all
            for (index, shard) in chosen.enumerated() {
                try progress(Step(shard: shard, place: index + 1, count: chosen.count))
                try verify(generation, shard: shard, into: &report, on: &connection)
            }
        } catch let error as VerifierError { throw error } catch let error as PostgresError {
            throw .database(error)
        } catch { throw .database(.decoding("\(error)")) }
        return report
    }

    /// The shards of the log.
    package static func shards(on connection: inout Connection) throws(PostgresError) -> [Int16] {
        let count: Int16 = try connection.query("SELECT shards FROM log.head")[0].get(0)
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
