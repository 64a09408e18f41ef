package import Postgres
package import Values

/// The last batch of a cell that another database of the cluster has seen. It tells whether the cell lost events.
///
/// A cell that was restored from a backup lacks this batch: it is gone, or its number belongs to a batch that was
/// committed at another time. A standby that took over without a loss has it.
package struct CellWitness: Sendable, Equatable {
    package let batch: Int64
    package let committedAt: Timestamp

    /// Works in one database of the cluster. The caller handles its errors.
    package typealias Asking = (ClusterMap.Cell, (inout Connection) throws(PostgresError) -> Void) -> Void

    /// Compares each cell with what others saw in it, and notes everywhere what is new. Returns the cells that lack
    /// something. They have noted that, so hubs show an error in place of their numbers.
    package static func compare(_ databases: [ClusterMap.Cell], asking: Asking) -> [ClusterMap.Cell] {
        var heads: [Int16: CellWitness] = [:]
        var seen: [Int16: [Int16: CellWitness]] = [:]
        for database in databases {
            asking(database) { connection throws(PostgresError) in
                seen[database.number] = try all(on: &connection)
                if !database.isHub { heads[database.number] = try head(on: &connection) }
            }
        }
        var lacking: [ClusterMap.Cell] = []
        for cell in databases where !cell.isHub {
            let newest = seen.values.compactMap { $0[cell.number] }.max { $0.committedAt < $1.committedAt }
            guard let newest else { continue }
            // What a cell has now says nothing until it is known that it has the rest, too: noted, it would hide the
            // loss.
            let head = heads.removeValue(forKey: cell.number)
            asking(cell) { connection throws(PostgresError) in
                if try newest.isLacking(on: &connection) { lacking.append(cell) } else { heads[cell.number] = head }
            }
        }
        for database in databases {
            guard let known = seen[database.number] else { continue }
            let news = heads.filter { cell, head in
                cell != database.number && (known[cell].map { $0.committedAt < head.committedAt } ?? true)
            }
            guard !news.isEmpty else { continue }
            asking(database) { connection throws(PostgresError) in
                for (cell, head) in news { try head.note(of: cell, on: &connection) }
            }
        }
        return lacking
    }

    /// What a database lacks since it was restored, as it noted; nil if nothing is known of that, or it is settled.
    package static func lost(on connection: inout Connection) throws(PostgresError) -> CellWitness? {
        let row = try connection.query("SELECT lost_batch, lost_committed_at FROM cluster.state")[0]
        guard let batch: Int64 = try row.optional(0), let committedAt: Timestamp = try row.optional(1) else {
            return nil
        }
        return CellWitness(batch: batch, committedAt: committedAt)
    }

    /// The cluster goes on without what this database lacks. Its clock may have been ahead when that was committed.
    package static func settle(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            UPDATE cluster.state
            SET lost_batch = NULL, lost_committed_at = NULL, settled_at = greatest(clock_timestamp(), lost_committed_at)
            """)
    }

    private static func all(on connection: inout Connection) throws(PostgresError) -> [Int16: CellWitness] {
        var all: [Int16: CellWitness] = [:]
        for row in try connection.query("SELECT cell, batch, committed_at FROM cluster.seen") {
            all[try row.get(0)] = CellWitness(batch: try row.get(1), committedAt: try row.get(2))
        }
        return all
    }

    private static func head(on connection: inout Connection) throws(PostgresError) -> CellWitness? {
        guard
            let row = try connection.query(
                "SELECT number, committed_at FROM log.batch ORDER BY number DESC LIMIT 1"
            ).first
        else { return nil }
        return CellWitness(batch: try row.get(0), committedAt: try row.get(1))
    }

    private func isLacking(on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query("SELECT cluster.lacks_batch(\(batch), \(committedAt))")[0].get(0)
    }

    private func note(of cell: Int16, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO cluster.seen AS s (cell, batch, committed_at)
            SELECT cell, \(batch), \(committedAt) FROM cluster.cell WHERE cell = \(cell)
            ON CONFLICT (cell) DO UPDATE SET batch = excluded.batch, committed_at = excluded.committed_at
            WHERE s.committed_at < excluded.committed_at
            """)
    }
}
