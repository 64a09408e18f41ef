internal import EventLog
internal import Postgres

/// Cells that came back from a backup that is older than a move of their shards.
///
/// Nothing of this is put right by itself: which copy is the good one, and what may be lost, only a person can say.
extension Cluster {
    /// What is known of restored cells.
    struct Restored {
        var findings: [Finding] = []
        /// Cells that must not take the map yet.
        var open: Set<Int16> = []
        /// Shards of which it is settled where they are, so that other cells may take the map.
        var known: [Int16] = []
    }

    /// Says which cells are older than what became of their shards. If `accepted` names one of them, the cluster goes
    /// on with it as it is: the map says that its old copies are to be forgotten, and shards that it lacks begin anew;
    /// but if no other cell has the shard any more of which it has a copy, it gets that back.
    func settleRestored(among cells: [ClusterMap.Cell], accepting accepted: String?) throws -> Restored {
        let lacking = restoredCells(among: cells)
        var older = comparisons(of: cells)
        var settled = Restored()
        var next = map
        var open: Set<Int16> = []
        if let cell = cells.first(where: { $0.name == accepted }), let own = older.removeValue(forKey: cell.number) {
            let acceptance = accept(cell, with: own, beside: &older, among: cells)
            next = acceptance.next
            open = acceptance.open
            if !open.isEmpty { settled.open.insert(cell.number) }
            settled.findings += acceptance.findings
        }
        for (number, own) in older.sorted(by: { $0.key < $1.key }) where !own.isEmpty {
            guard let cell = map.cell(number) else { continue }
            settled.open.insert(number)
            open.formUnion(own.surplus + own.missing)
            settled.findings.append(Finding(cell: cell.name, what: Self.words(for: own, cell.name), isMended: false))
        }
        settled.known = map.shards.filter { !open.contains($0) }
        if next.epoch > map.epoch {
            next.epoch = map.epoch + 1
            next.leastEpochs = next.leastEpochs.mapValues { min($0, next.epoch) }
            _ = try tell(next, knowing: settled.known)
        }
        try settleLosses(of: cells, lacking, accepting: accepted, &settled)
        return settled
    }

    /// Which shards each cell has otherwise than the map says, of the cells whose map is an older one. What else is
    /// wrong with a cell is said later.
    private func comparisons(of cells: [ClusterMap.Cell]) -> [Int16: ClusterMap.Comparison] {
        let newest = map
        var older: [Int16: ClusterMap.Comparison] = [:]
        for cell in cells where !cell.isHub {
            older[cell.number] = try? working(on: cell) { connection in
                if let own = try ClusterMap.read(on: &connection) {
                    guard own.own == cell.number, own.cluster == newest.cluster, own.epoch < newest.epoch else {
                        return nil
                    }
                }
                return try newest.comparison(as: cell.number, on: &connection)
            }
        }
        return older
    }

    /// How the cluster goes on with a restored cell as it is.
    private struct Acceptance {
        /// The map from then on.
        var next: ClusterMap
        /// Shards that cannot be settled yet.
        var open: Set<Int16> = []
        var findings: [Finding] = []
    }

    /// Decides it shard by shard. What an `older` cell lacks too, and gets, is taken from what it lacks.
    private func accept(
        _ cell: ClusterMap.Cell, with own: ClusterMap.Comparison, beside older: inout [Int16: ClusterMap.Comparison],
        among cells: [ClusterMap.Cell]
    ) -> Acceptance {
        var acceptance = Acceptance(next: map)
        var done: [String] = []
        for shard in own.surplus + own.missing {
            let holder = map.holders[Int(shard)]
            let isLacking = older.filter { $0.value.missing.contains(shard) }.map(\.key)
            let copies = older.filter { $0.value.whole.contains(shard) }.map(\.key)
            if map.move(of: shard) != nil {
                acceptance.open.insert(shard)
            } else if own.whole.contains(shard), isLacking.contains(holder) {
                acceptance.next = acceptance.next.next([shard], takenBy: cell.number, nil)
                older[holder]?.missing.removeAll { $0 == shard }
                done.append("shard \(shard) is back in it, as no other cell has it")
            } else if own.missing.contains(shard) {
                if let copy = copies.first { acceptance.next = acceptance.next.next([shard], takenBy: copy, nil) }
                let place = copies.first.flatMap { map.cell($0)?.name }
                done.append(place.map { "shard \(shard) is back in '\($0)'" } ?? "shard \(shard) begins anew")
            } else if let home = map.cell(holder), cells.contains(home), !isLacking.contains(holder) {
                acceptance.next = acceptance.next.next([shard], takenBy: holder, (holder, cell.number, false))
                done.append(
                    "hubs do not show its copy of shard \(shard): to remove it with whatever came into it since, "
                        + "bellwether cluster move --shard \(shard) --to \(home.name)")
            } else {
                acceptance.open.insert(shard)
            }
        }
        if !acceptance.open.isEmpty {
            let what =
                "\(ClusterError.named(acceptance.open.sorted())) cannot be settled yet: a move of it has not ended, or "
                + "the cell that has it cannot be reached"
            acceptance.findings.append(Finding(cell: cell.name, what: what, isMended: false))
        }
        if !done.isEmpty {
            acceptance.findings.append(Finding(cell: cell.name, what: done.joined(separator: "; "), isMended: true))
        }
        return acceptance
    }

    /// Says which cells lack batches that others saw in them. If `accepted` names one of them, the cluster goes on
    /// without these.
    private func settleLosses(
        of cells: [ClusterMap.Cell], _ lacking: [Int16: String], accepting accepted: String?, _ settled: inout Restored
    ) throws {
        for cell in cells {
            guard let what = lacking[cell.number], !settled.open.contains(cell.number),
                let lost = try working(on: cell, { connection in try CellWitness.lost(on: &connection) })
            else { continue }
            if cell.name == accepted {
                try working(on: cell) { connection in try CellWitness.settle(on: &connection) }
                settled.findings.append(
                    Finding(
                        cell: cell.name,
                        what:
                            "the cluster goes on without what was lost up to batch \(lost.batch); "
                            + "hubs show the cell again",
                        isMended: true))
            } else {
                settled.findings.append(
                    Finding(cell: cell.name, what: Self.words(for: what, cell.name), isMended: false))
            }
        }
    }

    private static func words(for loss: String, _ name: String) -> String {
        "was restored from a backup: \(loss). Hubs show an error in its place. Restore it with its whole write-ahead "
            + "log; or repeat what was erased and revoked since, and go on without what is lost: bellwether cluster "
            + "check --accept-loss \(name)"
    }

    private static func words(for own: ClusterMap.Comparison, _ name: String) -> String {
        "was restored from a backup that is older than a move, or than its place in the cluster. "
            + (own.surplus.isEmpty
                ? "" : "It has \(ClusterError.named(own.surplus)) again, so hubs show an error in its place. ")
            + (own.missing.isEmpty
                ? "" : "It does not have \(ClusterError.named(own.missing)), as the cluster expects. ")
            + "Restore it with its whole write-ahead log; "
            + "or, to go on with it as it is, bellwether cluster check --accept-loss \(name)"
    }
}
