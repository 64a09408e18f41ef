internal import Postgres
internal import Values

/// The batches of one step: those after a position, until they have a certain number of events.
struct BatchRange {
    struct Batch {
        let number: Int64
        let id: Int64
        /// How many events it has in each shard, from shard 0.
        let shardEvents: [Int32]
        /// The least and the greatest device time of its events; nil if it has none.
        let times: (least: Timestamp, greatest: Timestamp)?
    }

    /// In the order of their numbers, without gaps.
    private(set) var batches: [Batch] = []
    /// How many of their events are in the lane's shards.
    private(set) var events: Int64 = 0
    /// `log.head.words` when they were looked up: it tells when words were merged or pruned.
    private(set) var words: Int32?
    /// The last number, the position after the step.
    var end: Int64? { batches.last?.number }

    /// The most batches in one step, so that many small ones do not make an endless list.
    static let mostBatches: Int32 = 4_096

    /// Takes batches up to `last`, until they have `mostEvents` events of the lane. Takes at least one.
    init(
        after lane: Lane, upTo last: Int64, mostEvents: Int64, mostBatches: Int32?, on connection: inout Connection
    ) throws(PostgresError) {
        let most = mostBatches ?? Self.mostBatches
        var chunk = min(most, 64)
        // When thousands of batches wait, a few fill a step. So it asks for a few first, and then for more.
        while chunk > 0 {
            let rows = try connection.queryPrepared(
                """
                SELECT number, id, shard_events, least_device_at, greatest_device_at, (SELECT words FROM log.head) AS words
                FROM log.batch_expected
                WHERE number > \(batches.last?.number ?? lane.position) AND number <= \(last) ORDER BY number LIMIT \(chunk)
                """)
            if let first = rows.first { words = try first.get("words", as: Int32.self) }
            for row in rows where try !add(row, of: lane, mostEvents) { return }
            guard rows.count == chunk else { return }
            chunk = min(most - Int32(batches.count), 2 * chunk)
        }
    }

    /// Leaves out all batches but the first ones.
    mutating func keep(_ count: Int, of lane: Lane) {
        guard count < batches.count else { return }
        events -= batches[count...].reduce(0) { $0 + $1.events(in: lane.shards) }
        batches.removeSubrange(count...)
    }

    /// Takes a batch, unless the step is full without it.
    private mutating func add(_ row: Rows.Row, of lane: Lane, _ mostEvents: Int64) throws(PostgresError) -> Bool {
        let least: Timestamp? = try row.optional("least_device_at")
        let greatest: Timestamp? = try row.optional("greatest_device_at")
        let times = if let least, let greatest { (least, greatest) } else { (Timestamp, Timestamp)?.none }
        let batch = Batch(
            number: try row.get("number"), id: try row.get("id"), shardEvents: try row.get("shard_events"), times: times
        )
        let count = batch.events(in: lane.shards)
        guard count == 0 || times != nil else { throw .decoding("batch \(batch.number) has events but no times") }
        guard events == 0 || events + count <= mostEvents else { return false }
        events += count
        batches.append(batch)
        return true
    }
}

extension BatchRange.Batch {
    /// How many events it has in a shard.
    func events(in shard: Int16) -> Int32 { shardEvents.indices.contains(Int(shard)) ? shardEvents[Int(shard)] : 0 }

    func events(in shards: [Int16]) -> Int64 { shards.reduce(0) { $0 + Int64(events(in: $1)) } }
}

/// Counts the events found for each batch and shard, and compares the counts with what the batches say.
struct FoundEvents {
    private let batches: [BatchRange.Batch]
    /// The index of each batch in `batches`, by the batch's id.
    private let places: [Int64: Int]
    /// Batch by batch, the shards of each in order.
    private var counts: [Int32]
    /// How many counts each batch has.
    private let width: Int
    /// Events of one batch mostly come one after another.
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

    /// Throws at the first batch that does not have as many events in one of these shards as it says.
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
