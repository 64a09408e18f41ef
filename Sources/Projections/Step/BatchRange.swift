internal import Postgres
internal import Telemetry

/// The batches of one step: those after a position, up to a number of events.
struct BatchRange {
    struct Batch {
        let number: Int64
        let id: Int64
        /// How many of its events are in the lane's shards.
        let events: Int64
    }

    /// In order of their numbers, without gap.
    private(set) var batches: [Batch] = []
    /// Within these the events' device times lie.
    private(set) var times: (least: Timestamp, greatest: Timestamp)?

    /// The last number, the position after the step.
    var end: Int64? { batches.last?.number }

    /// What one step reads at most in one go, so that small batches do not make an endless list.
    static let mostBatches: Int32 = 4_096

    /// Takes batches until they hold so many events of the lane, one at least; up to `last`.
    init(
        after lane: Lane, upTo last: Int64, mostEvents: Int64, mostBatches: Int32?, on connection: inout Connection
    ) throws(PostgresError) {
        let rows = try connection.queryPrepared(
            """
            SELECT number, id, shard_events, least_device_at, greatest_device_at
            FROM log.batch_expected WHERE number > \(lane.position) AND number <= \(last) ORDER BY number LIMIT \(mostBatches ?? Self.mostBatches)
            """)
        var total: Int64 = 0
        for row in rows {
            let counts: [Int32] = try row.get(2)
            let events = lane.shards.reduce(Int64(0)) { $0 + Int64(counts[Int($1)]) }
            guard total == 0 || total + events <= mostEvents else { break }
            total += events
            batches.append(Batch(number: try row.get(0), id: try row.get(1), events: events))
            guard events > 0, let least: Timestamp = try row.optional(3), let greatest: Timestamp = try row.optional(4)
            else { continue }
            times = (min(times?.least ?? least, least), max(times?.greatest ?? greatest, greatest))
        }
    }

    /// The batches that hold something for the lane.
    var withEvents: [Batch] { batches.filter { $0.events > 0 } }
}
