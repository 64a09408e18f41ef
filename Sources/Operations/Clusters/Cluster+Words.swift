internal import Accounts
internal import EventLog
internal import Postgres

extension Cluster {
    /// Merges the words of a cell as they are merged in the first one. Returns how many that changed. Numbers follow
    /// with the cell's next rebuild.
    func shareMergedWords(with cell: ClusterMap.Cell) throws -> Int {
        let first = try self.first
        guard !cell.isHub, cell.number != first.number else { return 0 }
        let merges = try working(on: first) { connection in
            try Apps.list(on: &connection).map { app in (app, try WordBook(of: app).merges(on: &connection)) }
        }
        return try working(on: cell) { connection in
            var changed = 0
            do {
                try connection.execute(script: "BEGIN ISOLATION LEVEL READ COMMITTED")
                for (app, merges) in merges { changed += try WordBook(of: app).take(merges, on: &connection) }
                try connection.execute(script: "COMMIT")
            } catch {
                connection.rollBack()
                throw error
            }
            return changed
        }
    }
}
