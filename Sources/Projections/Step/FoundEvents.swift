/// Counts the events that were found of each batch and shard, and holds them against what the batches say.
struct FoundEvents {
    private let batches: [BatchRange.Batch]
    /// Where each batch stands among them, by its id.
    private let places: [Int64: Int]
    /// Batch by batch, the shards of each in order.
    private var counts: [Int32]
    /// How many each batch has.
    private let width: Int
    /// Events of one batch mostly come together.
    private var last: (id: Int64, place: Int)?

    init(of batches: [BatchRange.Batch]) {
        self.batches = batches
        places = Dictionary(batches.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        width = batches.reduce(0) { max($0, $1.shardEvents.count) }
        counts = [Int32](repeating: 0, count: batches.count * width)
    }

    mutating func count(batch id: Int64, shard: Int16) {
        if last?.id != id { last = places[id].map { (id, $0) } }
        guard let last, 0..<width ~= Int(shard) else { return }
        counts[last.place * width + Int(shard)] += 1
    }

    /// Throws at the first batch that does not hold in one of these shards what it says.
    func check(_ shards: [Int16]) throws(StepError) {
        for (place, batch) in batches.enumerated() {
            for shard in shards {
                let found = Int(shard) < width ? counts[place * width + Int(shard)] : 0
                let expected = batch.events(in: shard)
                guard found == expected else {
                    throw .wrongCount(batch: batch.number, shard: shard, found: found, expected: expected)
                }
            }
        }
    }
}
