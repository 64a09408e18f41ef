package import EventLog
package import Postgres
internal import ServiceRuntime

extension Cluster {
    /// Where a move of shards has come to.
    package enum MoveProgress: Sendable {
        /// So many events were copied, and the copy ends at this batch of the old cell, whose head is the other number.
        case copying(events: Int64, position: Int64, head: Int64)
        /// For so many seconds in all no cell took events of the shards.
        case switched(seconds: Double)
        case proving
        /// A hub waits for its readers.
        case waiting(hub: String)
        case forgetting(events: Int64)
    }

    /// Gives shards to another cell, with all that their installs ever sent, while events come in. A process that is
    /// killed anywhere leaves a map that says how far it came: the same again goes on, and the old cell as the target
    /// goes back.
    ///
    /// 1. Hubs are told not to show what arrives in the new cell.
    /// 2. The events are copied, batch by batch, at most `rate` a second.
    /// 3. For a moment no cell takes events of the shards: the rest is copied, and the new cell takes them from now on.
    /// 4. The new cell counts them and is compared with the old one. Then hubs show the new copy and no longer the old
    ///    one.
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
        try levelMaps(moving: shards)
        if shards.contains(where: { map.move(of: $0) == nil && map.holders[Int($0)] != target.number }) {
            try requireReach(of: target, for: shards)
        }
        var move = ShardMove(in: self, rate: rate, progress: progress)
        while let stage = stage(of: shards, to: target.number) { try move.perform(stage, target: target.number) }
        return move.untold
    }

    /// Gives the newest map to the databases that lack it: a process may have been killed between two cells. If these
    /// shards are to be moved, hubs and cells with a part in a move of them must be reached.
    func levelMaps(moving shards: Set<Int16>? = nil) throws {
        followNewest()
        let newest = map
        let concerned = newest.moves.filter { shards?.contains($0.shard) == true }.flatMap { [$0.home, $0.other] }
        for cell in newest.cells {
            func level(_ connection: inout Connection) throws(PostgresError) -> Bool {
                if let own = try ClusterMap.read(on: &connection), own.epoch >= newest.epoch { return true }
                guard try newest.comparison(as: cell.number, on: &connection).isEmpty else { return false }
                try newest.write(as: cell.number, knowing: newest.shards, on: &connection)
                return true
            }
            let mustBeReached = shards != nil && (cell.isHub || concerned.contains(cell.number))
            let isLevel = mustBeReached ? try insisting(on: cell, level) : (try? on(cell, level)) ?? true
            guard isLevel else { throw ClusterError.isRestored(cell: cell.name) }
        }
    }

    /// Works on a database that must be reached. A hub may have to wait for those who read it.
    func insisting<Result>(
        on cell: ClusterMap.Cell, waiting: () -> Void = {}, _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(ClusterError) -> Result {
        let deadline = Deadline.after(seconds: 60)
        var backoff = Backoff(first: 0.1, most: 2)
        while true {
            do throws(PostgresError) { return try on(cell, body) } catch {
                let isRead = error.state == .lockNotAvailable || error.state == .deadlockDetected
                guard isRead, !deadline.hasPassed else {
                    throw isRead ? .hubIsRead(hub: cell.name) : .unreachable(cell: cell.name, error)
                }
            }
            waiting()
            _ = Lock(()).wait(until: .after(seconds: backoff.next())) { _ in Bool?.none }
        }
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
