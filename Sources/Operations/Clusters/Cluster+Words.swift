internal import Accounts
internal import EventLog
internal import Postgres

extension Cluster {
    /// Merges the words of a cell as they are merged in the first one. Returns how many that changed. Numbers follow
    /// with the cell's next rebuild.
    func shareMergedWords(with cell: ClusterMap.Cell) throws -> Int {
        let first = try self.first
        guard cell.number != first.number else { return 0 }
        let merges = try working(on: first) { connection in
            try Apps.list(on: &connection).map { app in (app, try WordBook(of: app).merges(on: &connection)) }
        }
        return try working(on: cell) { connection in
            try connection.inTransaction { connection in
                try merges.reduce(0) { try $0 + WordBook(of: $1.0).take($1.1, on: &connection) }
            }
        }
    }
}
