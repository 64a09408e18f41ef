package import EventLog
package import Postgres
internal import ServiceRuntime
internal import Telemetry

extension Cluster {
    /// Gives shards that have no events yet to another cell. Killed anywhere, the same again goes on.
    ///
    /// First no cell has the shards: after the old one knows that, no writer can add an event to them there, so that they stay
    /// empty. Then the new one has them. Meanwhile, for much less than a second, events of these shards are answered with 503.
    package func moveEmpty(
        _ shards: Set<Int16>, to name: String
    ) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        guard let target = map.cells.first(where: { $0.name == name }) else { throw ClusterError.unknownCell(name) }
        guard !target.isHub else { throw ClusterError.isHub(name) }
        for shard in shards.sorted() where !map.holders.indices.contains(Int(shard)) {
            throw ClusterError.unknownShard(shard, count: map.holders.count)
        }
        let moving = shards.filter { map.holders[Int($0)] != target.number }
        guard !moving.isEmpty else { return [] }
        let holders = map.holders
        // A shard that an interrupted run has left without a cell may have been anybody's.
        let sources = map.cells.filter { cell in
            cell.number != target.number
                && moving.contains { [0, cell.number].contains(holders[Int($0)]) }
        }
        for cell in sources { try requireEmpty(moving, in: cell) }
        // The new cell must be there, and up to date, before the old ones let go.
        let present = map
        _ = try working(on: target) { connection in try present.write(as: target.number, on: &connection) }
        let untold = try tell(map(giving: moving, to: 0))
        CrashPoint.pass("shards let go")
        for (cell, error) in untold where sources.contains(cell) || cell == target {
            throw ClusterError.unreachable(cell: cell.name, error)
        }
        do { for cell in sources { try requireEmpty(moving, in: cell) } } catch {
            // Events came in at the last moment: their cell keeps them.
            var back = map
            back.epoch += 1
            for shard in moving { back.holders[Int(shard)] = holders[Int(shard)] }
            _ = try tell(back)
            throw error
        }
        return try tell(map(giving: moving, to: target.number))
    }

    /// The next map, in which a cell has these shards, or none has them.
    private func map(giving shards: Set<Int16>, to cell: Int16) -> ClusterMap {
        var next = map
        next.epoch += 1
        for shard in shards { next.holders[Int(shard)] = cell }
        return next
    }

    private func requireEmpty(_ shards: Set<Int16>, in cell: ClusterMap.Cell) throws {
        let filled: [Int16] = try working(on: cell) { connection in
            var filled: [Int16] = []
            let rows = try connection.query(
                """
                SELECT s.shard FROM unnest(\(shards.sorted())) AS s (shard)
                WHERE EXISTS (SELECT FROM log.batch AS b WHERE b.shard_events[s.shard + 1] > 0)
                """)
            for row in rows { filled.append(try row.get(0)) }
            // What was erased before it came must stay out, wherever the shard is.
            let count = Int16(map.holders.count)
            for row in try connection.query("SELECT DISTINCT install_id FROM log.erasure") {
                let shard = Shard.of(try row.get(0), among: count)
                if shards.contains(shard), !filled.contains(shard) { filled.append(shard) }
            }
            return filled
        }
        guard filled.isEmpty else { throw ClusterError.hasEvents(shards: filled, cell: cell.name) }
    }
}
