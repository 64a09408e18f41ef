package import EventLog
internal import Migrations
package import Postgres
internal import ServiceRuntime
internal import Values

extension Cluster {
    /// What a check says of one cell.
    package struct Finding: Sendable {
        package let cell: String
        package let what: String
        /// Whether the check has put it right.
        package let isMended: Bool
    }

    /// Compares the maps of all cells, and what all cells share, and puts right what it can: the map with the highest
    /// epoch counts, and the rows of the first cell. `lossIn` names a cell that was restored from an old backup, and
    /// with which the cluster is to go on as it is.
    package func check(lossIn accepted: String? = nil) throws -> [Finding] {
        if let accepted, !map.cells.contains(where: { $0.name == accepted }) {
            throw ClusterError.unknownCell(accepted)
        }
        var findings: [Finding] = []
        var unreachable: Set<Int16> = []
        followNewest { cell, error in
            if unreachable.insert(cell.number).inserted {
                findings.append(Finding(cell: cell.name, what: "cannot be reached: \(error)", isMended: false))
            }
        }
        let restored: Restored
        do {
            restored = try settleRestored(
                among: map.cells.filter { !unreachable.contains($0.number) }, accepting: accepted)
        } catch {
            findings.append(Finding(cell: map.first?.name ?? "", what: "\(error)", isMended: false))
            return findings
        }
        findings += restored.findings
        findings += checkHolders()
        findings += checkRemovals()
        if let accepted, accepted == (try first).name {
            let reachable = map.cells.filter { !unreachable.contains($0.number) }
            do { findings += try bringBack(SharedTables.all, from: reachable) } catch {
                findings.append(Finding(cell: accepted, what: "\(error)", isMended: false))
            }
        }
        for cell in map.cells where !unreachable.contains(cell.number) {
            do {
                if let finding = try checkFit(of: cell) {
                    findings.append(finding)
                    continue
                }
                if !restored.open.contains(cell.number), let finding = try checkMap(of: cell, restored.known) {
                    findings.append(finding)
                }
                if !restored.open.contains(cell.number), !cell.isHub, let finding = try checkShards(of: cell) {
                    findings.append(finding)
                }
                if cell.number != (try first).number, !unreachable.contains(try first.number) {
                    findings += try checkTables(of: cell) + checkWords(of: cell)
                }
            } catch { findings.append(Finding(cell: cell.name, what: "\(error)", isMended: false)) }
        }
        return findings
    }

    /// Finds the map with the highest epoch: a process may have been killed before all cells had it.
    package func followNewest(_ failed: (ClusterMap.Cell, PostgresError) -> Void = { _, _ in }) {
        var asked: Set<Int16> = []
        while let cell = map.cells.first(where: { !asked.contains($0.number) }) {
            asked.insert(cell.number)
            do throws(PostgresError) {
                let other = try on(cell) { connection throws(PostgresError) in try ClusterMap.read(on: &connection) }
                if let other, other.cluster == map.cluster, other.epoch > map.epoch { follow(other) }
            } catch {
                // A database that was never migrated has no map; what is wrong with it is said later.
                if error.isUnavailable { failed(cell, error) }
            }
        }
    }

    private func checkFit(of cell: ClusterMap.Cell) throws -> Finding? {
        let misfit = try working(on: cell) { connection in try Migrations.state(of: &connection).misfit }
        return misfit.map { Finding(cell: cell.name, what: $0, isMended: false) }
    }

    private func checkMap(of cell: ClusterMap.Cell, _ known: [Int16]) throws -> Finding? {
        let own = try working(on: cell) { connection in try ClusterMap.read(on: &connection) }
        if let own, own.cluster != map.cluster || own.own != cell.number {
            return Finding(
                cell: cell.name, what: "this database is another cell, or of another cluster", isMended: false)
        }
        guard own?.epoch != map.epoch else { return nil }
        let isTold = try working(on: cell) { connection in
            try map.write(as: cell.number, knowing: known, on: &connection)
        }
        let epoch = own.map { "the map of epoch \($0.epoch)" } ?? "no map"
        return Finding(cell: cell.name, what: "had \(epoch), and now has that of \(map.epoch)", isMended: isTold)
    }

    private func checkTables(of cell: ClusterMap.Cell) throws -> [Finding] {
        var findings: [Finding] = []
        for table in SharedTables.all where try differs(table, in: cell) {
            let rows = try share([table], with: cell)[0].rows
            let isMended = try !differs(table, in: cell)
            findings.append(
                Finding(
                    cell: cell.name,
                    what: isMended
                        ? "\(table.name) lacked \(String(counting: rows, "row", "rows")) of the first cell, "
                            + "or had them otherwise"
                        : try surplus(of: table, in: cell) > 0
                            ? "\(table.name) has rows that the first cell does not have. If that was restored, bring "
                                + "them back: bellwether cluster check --accept-loss \(try first.name)"
                            : "\(table.name) has rows that say something else than in the first cell, "
                                + "and that nothing changes",
                    isMended: isMended))
        }
        return findings
    }

    private func checkWords(of cell: ClusterMap.Cell) throws -> [Finding] {
        let changed = try shareMergedWords(with: cell)
        guard changed > 0 else { return [] }
        let words = changed == 1 ? "1 word was" : "\(changed) words were"
        return [
            Finding(
                cell: cell.name,
                what: "\(words) merged otherwise than in the first cell"
                    + (cell.isHub ? "" : "; the funnels follow with bellwether rebuild"),
                isMended: true)
        ]
    }

    /// Shards whose events no cell takes, for longer than a move needs.
    private func checkHolders() -> [Finding] {
        let end = Deadline.after(seconds: 15)
        while map.holders.contains(0), !end.hasPassed {
            _ = Lock(()).wait(until: .after(seconds: 0.5)) { _ in Bool?.none }
            followNewest()
        }
        return map.moves.filter { map.holders[Int($0.shard)] == 0 }.map { move in
            let target = map.cell(move.other)?.name ?? ""
            return Finding(
                cell: target,
                what:
                    "no cell takes the events of shard \(move.shard): a move was interrupted. To go on: "
                    + "bellwether cluster move --shard \(move.shard) --to \(target)",
                isMended: false)
        }
    }

    /// Cells that left, and whose counts the first cell did not get, since a process was killed.
    private func checkRemovals() -> [Finding] {
        guard let first = try? self.first,
            let left = try? working(on: first, { connection in try CellLeftovers.unsettled(on: &connection) })
        else { return [] }
        return left.map { cell in
            do {
                try settle(cell)
                return Finding(
                    cell: cell.name, what: "left the cluster, and the first cell has what it counted only now",
                    isMended: true)
            } catch {
                return Finding(
                    cell: cell.name,
                    what: "left the cluster, and the first cell does not have what it counted: \(error)",
                    isMended: false)
            }
        }
    }

    /// Events of shards that are in another cell by the map.
    private func checkShards(of cell: ClusterMap.Cell) throws -> Finding? {
        let own = Set(map.moves.flatMap { [$0.home, $0.other].contains(cell.number) ? [$0.shard] : [] })
        let others = map.shards.filter { map.holders[Int($0)] != cell.number && !own.contains($0) }
        let present = try working(on: cell) { connection in try ShardHistory(of: others).present(on: &connection) }
        guard !present.isEmpty else { return nil }
        return Finding(
            cell: cell.name,
            what:
                "has events of the \(ClusterError.named(present)) that \(present.count == 1 ? "is" : "are") "
                + "in another cell: hubs count them too",
            isMended: false)
    }

    /// How many rows a cell has of a table that the first cell does not have.
    func surplus(of table: SharedTable, in cell: ClusterMap.Cell) throws -> Int64 {
        let first = try self.first
        return try working(on: first) { source in
            try working(on: cell) { target in try table.surplus(of: &target, beside: &source) }
        }
    }

    func differs(_ table: SharedTable, in cell: ClusterMap.Cell) throws -> Bool {
        let wanted = try working(on: try first) { connection in try table.content(on: &connection) }
        return try working(on: cell) { connection in try table.content(on: &connection) } != wanted
    }
}
