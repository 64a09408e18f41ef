package import EventLog
internal import Postgres
internal import ServiceRuntime

/// A database that a command works on: the one that was given, or a cell of a cluster.
package struct CellDatabase: Sendable {
    /// Nil for a database that stands for itself, whether or not it belongs to a cluster.
    package let cell: ClusterMap.Cell?
    package let url: String
    /// The shards that the cell has, by the newest map.
    package let shards: [Int16]

    /// A database that stands for itself.
    package init(alone url: String) { (cell, self.url, shards) = (nil, url, []) }

    init(_ cell: ClusterMap.Cell, url: String, shards: [Int16]) {
        (self.cell, self.url, self.shards) = (cell, url, shards)
    }

    /// The name of the cell; nil if the database stands for itself.
    package var name: String? { cell?.name }

    package var isHub: Bool { cell?.isHub == true }

    /// A text with the name of the cell before each line.
    package func labelled(_ text: String) -> String {
        guard let name else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "\(name): \($0)" }
            .joined(separator: "\n")
    }

    /// An error with the name of the cell.
    package func error(_ error: any Error) -> any Error { name.map { ClusterError(inCell: $0, error) } ?? error }
}

extension Cluster {
    /// All databases of the cluster by the newest map, in the order of their numbers; hubs are among them.
    package var databases: [CellDatabase] {
        map.cells.map { cell in
            CellDatabase(
                cell, url: cell.number == map.own ? ownURL : url(of: cell.place),
                shards: map.holders.indices.map { Int16($0) }.filter { map.holders[Int($0)] == cell.number })
        }
    }

    /// What a command works on that is given this database: a hub stands for all cells, and a cell for itself.
    package var workplaces: [CellDatabase] {
        map.isOfHub ? databases.filter { !$0.isHub } : [CellDatabase(alone: ownURL)]
    }
}

extension [CellDatabase] {
    /// Does the same in all of them side by side, each on a thread of its own. `told` gets the results in their order,
    /// as soon as all before them are there. A failure in one keeps no other from its work.
    package func sideBySide<Result: Sendable>(
        _ body: @escaping @Sendable (CellDatabase) throws -> Result,
        told: (CellDatabase, Swift.Result<Result, any Error>) -> Void
    ) {
        let results = Lock([Swift.Result<Result, any Error>?](repeating: nil, count: count))
        let workers = enumerated().map { place, database in
            Worker(name: database.name ?? "database") {
                let result = Swift.Result { try body(database) }
                results.withLock { $0[place] = result }
            }
        }
        for (place, database) in enumerated() {
            workers[place].join()
            if let result = results.withLock({ $0[place] }) { told(database, result) }
        }
    }
}
