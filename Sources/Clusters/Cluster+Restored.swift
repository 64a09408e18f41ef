internal import EventLog
internal import Postgres

/// What became of shards while a cell was away, and came back from a backup that is older than their moves.
extension Cluster {
    /// What is known of restored cells.
    struct Restored {
        var findings: [Finding] = []
        /// Cells that cannot follow the map yet.
        var open: Set<Int16> = []
        /// Shards whose history is settled, so that cells may take the map.
        var known: [Int16] = []
    }

    /// Hides copies of shards that are elsewhere by now. A shard that is in no cell any more but in such a copy comes back to it. Says
    /// which events are gone, unless they are known to be lost in this cell.
    func settleRestored(among cells: [ClusterMap.Cell], lossIn lost: String?) throws -> Restored {
        var surplus: [(shard: Int16, cell: ClusterMap.Cell)] = []
        var missing: [Int16: ClusterMap.Cell] = [:]
        let newest = map
        for cell in cells where !cell.isHub {
            // What else is wrong with a cell is said later.
            let own = try? working(on: cell) { connection in
                let known = try ClusterMap.read(on: &connection)
                guard let known, known.own == cell.number, known.cluster == newest.cluster, known.epoch < newest.epoch
                else { return (surplus: [Int16](), missing: [Int16]()) }
                return try newest.comparison(as: cell.number, on: &connection)
            }
            surplus += (own?.surplus ?? []).map { ($0, cell) }
            for shard in own?.missing ?? [] { missing[shard] = cell }
        }
        var settled = Restored()
        var next = map
        var (mended, unsettled): ([(cell: ClusterMap.Cell, what: String)], Set<Int16>) = ([], [])
        for (shard, cell) in surplus {
            let copy = "has a copy of shard \(shard) from before it moved, as a restored cell does"
            let holder = map.cell(map.holders[Int(shard)])
            if map.move(of: shard) != nil {
                leave(cell, [shard], "\(copy), and the shard is moving between other cells: end that move first")
            } else if missing[shard] != nil {
                missing[shard] = nil
                next = next.next([shard], takenBy: cell.number, nil)
                mended.append(
                    (cell, "has the only copy of shard \(shard), as restored cells do, and takes its events again"))
            } else if let holder, cells.contains(holder) {
                next = next.next([shard], takenBy: holder.number, (holder.number, cell.number, false))
                mended.append(
                    (
                        cell,
                        "\(copy), and hubs do not show it: to remove it, bellwether cluster move --shard \(shard) --to \(holder.name)"
                    ))
            } else {
                leave(cell, [shard], "\(copy), and the cell that has it now cannot be reached")
            }
        }
        for (cell, shards) in Dictionary(grouping: missing.keys.sorted(), by: { missing[$0] }) {
            guard let cell else { continue }
            let names = shards.map { "\($0)" }.joined(separator: ", ")
            let (noun, they) = shards.count == 1 ? ("shard", "it") : ("shards", "they")
            if cell.name == lost {
                mended.append((cell, "has no events of the \(noun) \(names) from before now, and takes new ones"))
            } else {
                leave(
                    cell, shards,
                    "was restored from a backup made before the \(noun) \(names) came, so \(they) "
                        + "\(shards.count == 1 ? "is" : "are") in no cell. Restore a newer backup; or, if there is none, let it take new "
                        + "events without the old ones: bellwether cluster check --accept-loss \(cell.name)")
            }
        }
        settled.known = map.shards.filter { !unsettled.contains($0) }
        if next.epoch > map.epoch {
            next.epoch = map.epoch + 1
            _ = try tell(next, knowing: settled.known)
        }
        settled.findings += mended.map { Finding(cell: $0.cell.name, what: $0.what, isMended: true) }
        return settled

        func leave(_ cell: ClusterMap.Cell, _ shards: [Int16], _ what: String) {
            settled.findings.append(Finding(cell: cell.name, what: what, isMended: false))
            settled.open.insert(cell.number)
            unsettled.formUnion(shards)
        }
    }
}
