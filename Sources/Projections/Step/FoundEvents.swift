internal import Telemetry

/// Counts the events that were found of each batch and shard, and holds them against what the batches say.
struct FoundEvents {
    private let batches: [BatchRange.Batch]
    /// Where each batch stands among them, by its id.
    private let places: [Int64: Int]
    /// Batch by batch, the shards of each in order.
    private var counts: [Int32]
    /// Events of one batch mostly come together.
    private var last: (id: Int64, place: Int)?

    init(of batches: [BatchRange.Batch]) {
        self.batches = batches
        places = Dictionary(batches.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        counts = [Int32](repeating: 0, count: batches.count * Int(Shard.count))
    }

    mutating func count(batch id: Int64, shard: Int16) {
        if last?.id != id { last = places[id].map { (id, $0) } }
        guard let last, 0..<Shard.count ~= shard else { return }
        counts[last.place * Int(Shard.count) + Int(shard)] += 1
    }

    /// Throws at the first batch that does not hold in one of these shards what it says.
    func check(_ shards: [Int16]) throws(StepError) {
        for (place, batch) in batches.enumerated() {
            for shard in shards {
                let (found, expected) = (counts[place * Int(Shard.count) + Int(shard)], batch.events(in: shard))
                guard found == expected else {
                    throw .wrongCount(batch: batch.number, shard: shard, found: found, expected: expected)
                }
            }
        }
    }
}
