package import EventLog
internal import Postgres
internal import Projections

/// What one cell says of itself, for an operator.
package struct CellStatus: Sendable {
    package let cell: ClusterMap.Cell
    /// How many shards it has, by the newest map.
    package let shards: Int
    package let answer: Answer

    package enum Answer: Sendable {
        case away(String)
        /// The epoch of its map is 0 if it has none.
        case there(epoch: Int64, log: LogStatus, lagSeconds: Double)
    }
}

extension Cluster {
    /// All cells, in the order of their numbers. A cell that does not answer says so, and hides no other.
    package func status() -> [CellStatus] {
        map.cells.map { cell in
            CellStatus(
                cell: cell, shards: map.holders.count { $0 == cell.number },
                answer: {
                    do throws(PostgresError) {
                        return try on(cell) { connection throws(PostgresError) in
                            let lags = try ProjectionStatus.all(on: &connection).map(\.lagSeconds)
                            return .there(
                                epoch: try ClusterMap.read(on: &connection)?.epoch ?? 0,
                                log: try LogStatus.read(on: &connection), lagSeconds: lags.max() ?? 0)
                        }
                    } catch { return .away("\(error)") }
                }())
        }
    }
}
