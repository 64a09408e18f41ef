internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// Whether the processes of the service can work in a cell, as far as the owner can know: they say it themselves every
/// few seconds, and the logins that take events elsewhere must be there.
extension Cluster {
    /// Why running processes cannot work in cells, by the number of the cell, as they told these cells.
    func complaints(told cells: [ClusterMap.Cell]) -> [Int16: [CellReport]] {
        var complaints: [Int16: [String: CellReport]] = [:]
        for cell in cells where !cell.isHub {
            let reports = try? on(cell) { connection throws(PostgresError) in try CellReport.all(on: &connection) }
            for report in reports ?? [] where report.fault != nil {
                complaints[report.cell, default: [:]][report.node] = report
            }
        }
        return complaints.mapValues { $0.values.sorted { $0.node < $1.node } }
    }

    /// Fails if installs would be refused whose shards this cell gets.
    ///
    /// The services log in to every cell, so the cells that give the shards away know all logins, and must answer.
    /// Another cell that does not is no reason to leave everything where it is.
    func requireReach(of target: ClusterMap.Cell, for shards: Set<Int16>) throws {
        try requireContent(with: target)
        let sources = Set(shards.map { map.holders[Int($0)] })
        var needed: Set<String> = []
        for cell in map.cells where !cell.isHub && cell != target && map.holders.contains(cell.number) {
            do {
                needed.formUnion(try working(on: cell) { connection in try CellReport.ingestLogins(on: &connection) })
            } catch {
                if sources.contains(cell.number) { throw error }
            }
        }
        let present = try working(on: target) { connection in try CellReport.ingestLogins(on: &connection) }
        let missing = needed.subtracting(present).sorted()
        guard missing.isEmpty else { throw ClusterError.noLogin(missing, cell: target.name) }
    }
}

extension Cluster {
    /// Fails if a process says that it cannot work in this cell, and has for a while. A fault of a moment may be that
    /// of a server that was started again, and what a killed process said last is forgotten soon, so this waits and
    /// looks again.
    private func requireContent(with target: ClusterMap.Cell) throws {
        let end = Deadline.after(seconds: 45)
        while let reports = complaints(told: map.cells)[target.number], let first = reports.first {
            let report = reports.first(where: \.isLasting) ?? first
            guard report.isLasting || end.hasPassed else {
                _ = Lock(()).wait(until: .after(seconds: 0.5)) { _ in Bool?.none }
                continue
            }
            throw ClusterError.unreached(
                cell: target.name, node: report.node, login: report.login, fault: report.fault ?? "")
        }
    }
}

/// Cells that were restored from a backup.
extension Cluster {
    /// Compares these databases with what others saw in them, and says of each cell what is wrong with it since it was
    /// restored. This also writes: what is seen is noted everywhere, and what is lost in the cell itself, so that hubs
    /// show an error.
    func restoredCells(among cells: [ClusterMap.Cell]) -> [Int16: String] {
        _ = CellWitness.compare(cells) { cell, body in _ = try? on(cell, body) }
        var restored: [Int16: String] = [:]
        for cell in cells where !cell.isHub {
            let state: (epoch: Int64, lost: CellWitness?)? = try? on(cell) { connection throws(PostgresError) in
                (try ClusterMap.read(on: &connection)?.epoch ?? 0, try CellWitness.lost(on: &connection))
            }
            guard let state else { continue }
            if let lost = state.lost {
                restored[cell.number] =
                    "batch \(lost.batch), committed at \(lost.committedAt), "
                    + "was seen in it before and is not there any more"
            } else if let least = map.leastEpochs[cell.number], state.epoch < least {
                restored[cell.number] =
                    "its map is of epoch \(state.epoch), and what it has was changed in epoch \(least)"
            }
        }
        return restored
    }
}
