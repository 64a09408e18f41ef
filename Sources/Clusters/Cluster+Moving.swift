package import EventLog
package import Postgres

extension Cluster {
    /// Where a move of shards has come to.
    package enum MoveProgress: Sendable {
        /// So many events were copied, and the copy ends at this batch of the old cell, whose head is the other number.
        case copying(events: Int64, position: Int64, head: Int64)
        /// For so many seconds no cell took events of the shards.
        case switched(seconds: Double)
        case proving
        /// A hub waits for whoever reads it.
        case waiting(hub: String)
        case forgetting(events: Int64)
    }

    /// Gives shards to another cell, with all that their installs ever sent, while events come in. Whoever is killed anywhere leaves a
    /// map that says how far it came: the same again goes on, and the old cell as the target goes back.
    ///
    /// 1. Hubs are told not to show what arrives in the new cell.
    /// 2. The events are copied, batch by batch, at most `rate` a second.
    /// 3. For a moment no cell takes events of the shards: the rest is copied, and the new cell takes them from now on.
    /// 4. The new cell counts them and is compared with the old one. Then hubs show the new copy and no longer the old one.
    /// 5. The old cell forgets the shards.
    ///
    /// Returns the cells that could not be told.
    package func move(
        _ shards: Set<Int16>, to name: String, rate: Int? = nil, progress: @escaping (MoveProgress) -> Void = { _ in }
    ) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        guard let target = map.cells.first(where: { $0.name == name }) else { throw ClusterError.unknownCell(name) }
        guard !target.isHub else { throw ClusterError.isHub(name) }
        for shard in shards.sorted() where !map.holders.indices.contains(Int(shard)) {
            throw ClusterError.unknownShard(shard, count: map.holders.count)
        }
        // Whoever moved shards before may have been killed between two cells.
        followNewest()
        for cell in map.cells { try catchUp(cell) }
        var move = ShardMove(in: self, rate: rate, progress: progress)
        while let stage = stage(of: shards, to: target.number) { try move.perform(stage, target: target.number) }
        return move.untold
    }

    /// Gives a cell that was not told of it the newest map, if it can be reached.
    private func catchUp(_ cell: ClusterMap.Cell) throws {
        let newest = map
        let isRestored: Bool? = try? on(cell) { connection throws(PostgresError) in
            guard try ClusterMap.read(on: &connection).map({ $0.epoch < newest.epoch }) == true else { return false }
            let lost = try newest.comparison(as: cell.number, on: &connection)
            guard lost.surplus.isEmpty, lost.missing.isEmpty else { return true }
            try newest.write(as: cell.number, knowing: newest.shards, on: &connection)
            return false
        }
        if isRestored == true { throw ClusterError.isRestored(cell: cell.name) }
    }

    /// What is to be done next, and with which shards; nil if all are where they should be.
    private func stage(of shards: Set<Int16>, to target: Int16) -> ShardMove.Stage? {
        let left = shards.sorted().filter { map.move(of: $0) != nil || map.holders[Int($0)] != target }
        guard let first = left.first else { return nil }
        let (holder, move) = (map.holders[Int(first)], map.move(of: first))
        let alike = left.filter { shard in
            let other = map.move(of: shard)
            return map.holders[Int(shard)] == holder && other?.home == move?.home && other?.other == move?.other
                && other?.isArriving == move?.isArriving
        }
        return ShardMove.Stage(shards: alike, holder: holder, move: move)
    }
}
