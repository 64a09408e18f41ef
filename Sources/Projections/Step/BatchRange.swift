internal import Postgres
internal import Values

/// The batches of one step: those after a position, up to a number of events.
struct BatchRange {
    struct Batch {
        let number: Int64
        let id: Int64
        /// How many events it holds in each shard, from 0.
        let shardEvents: [Int32]
        /// Within these its events' device times lie; nil where it has none.
        let times: (least: Timestamp, greatest: Timestamp)?
    }

    /// In order of their numbers, without gap.
    private(set) var batches: [Batch] = []
    /// How many of their events are in the lane's shards.
    private(set) var events: Int64 = 0
    /// The last number, the position after the step.
    var end: Int64? { batches.last?.number }

    /// What one step reads at most in one go, so that small batches do not make an endless list.
    static let mostBatches: Int32 = 4_096

    /// Takes batches until they hold so many events of the lane, one at least; up to `last`.
    init(
        after lane: Lane, upTo last: Int64, mostEvents: Int64, mostBatches: Int32?, on connection: inout Connection
    ) throws(PostgresError) {
        let most = mostBatches ?? Self.mostBatches
        var chunk = min(most, 64)
        // Far behind, thousands of batches wait, and a few fill a step: so a few are asked for, and then more.
        while chunk > 0 {
            let rows = try connection.queryPrepared(
                """
                SELECT number, id, shard_events, least_device_at, greatest_device_at FROM log.batch_expected
                WHERE number > \(batches.last?.number ?? lane.position) AND number <= \(last) ORDER BY number LIMIT \(chunk)
                """)
            for row in rows where try !add(row, of: lane, mostEvents) { return }
            guard rows.count == chunk else { return }
            chunk = min(most - Int32(batches.count), 2 * chunk)
        }
    }

    /// Takes a batch, unless the step is full without it.
    private mutating func add(_ row: Rows.Row, of lane: Lane, _ mostEvents: Int64) throws(PostgresError) -> Bool {
        let (least, greatest): (Timestamp?, Timestamp?) = (try row.optional(3), try row.optional(4))
        let times = if let least, let greatest { (least, greatest) } else { (Timestamp, Timestamp)?.none }
        let batch = Batch(number: try row.get(0), id: try row.get(1), shardEvents: try row.get(2), times: times)
        let count = lane.shards.reduce(Int64(0)) { $0 + Int64(batch.events(in: $1)) }
        guard count == 0 || times != nil else { throw .decoding("batch \(batch.number) has events but no times") }
        guard events == 0 || events + count <= mostEvents else { return false }
        events += count
        batches.append(batch)
        return true
    }
}

extension BatchRange.Batch {
    /// How many events it holds in a shard.
    func events(in shard: Int16) -> Int32 { shardEvents.indices.contains(Int(shard)) ? shardEvents[Int(shard)] : 0 }
}

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
