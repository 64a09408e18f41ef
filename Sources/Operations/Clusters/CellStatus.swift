package import EventLog
internal import Postgres
internal import Projections

/// What one cell says of itself, for an operator.
package struct CellStatus: Sendable {
    package let cell: ClusterMap.Cell
    /// How many shards it has, by the newest map.
    package let shards: Int
    package let answer: Answer
    /// What has to be put right, if anything: it was restored from a backup, or processes of the service cannot work in
    /// it.
    package let troubles: [String]

    package enum Answer: Sendable {
        case away(String)
        /// The epoch of its map is 0 if it has none.
        case reached(epoch: Int64, log: LogStatus, lagSeconds: Double)
    }
}

extension Cluster {
    /// All cells, in the order of their numbers. A cell that does not answer says so, and hides no other.
    package func status() -> [CellStatus] {
        let answers = map.cells.map { cell in (cell, answer(of: cell)) }
        let reached = answers.compactMap { cell, answer in if case .reached = answer { cell } else { nil } }
        let (restored, told) = (restoredCells(among: reached), complaints(told: reached))
        return answers.map { cell, answer in
            var troubles: [String] = []
            if let what = restored[cell.number] {
                troubles.append(
                    "restored from a backup: \(what). Hubs show an error until that is settled: "
                        + "bellwether cluster check"
                )
            }
            troubles += (told[cell.number] ?? []).map {
                "\($0.node) cannot work in it as \($0.login): \($0.fault ?? "")"
            }
            return CellStatus(
                cell: cell, shards: map.holders.count { $0 == cell.number }, answer: answer, troubles: troubles)
        }
    }

    private func answer(of cell: ClusterMap.Cell) -> CellStatus.Answer {
        do throws(PostgresError) {
            return try on(cell) { connection throws(PostgresError) in
                let lags = try ProjectionStatus.all(on: &connection).map(\.lagSeconds)
                return .reached(
                    epoch: try ClusterMap.read(on: &connection)?.epoch ?? 0,
                    log: try LogStatus.read(on: &connection), lagSeconds: lags.max() ?? 0)
            }
        } catch { return .away("\(error)") }
    }
}
