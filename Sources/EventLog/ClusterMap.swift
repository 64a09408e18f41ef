package import Postgres
internal import Telemetry
package import Values

/// Which cell of a cluster has which shard, as one of the cells says.
///
/// Every cell keeps the map, and the highest epoch counts. A database outside a cluster has none.
package struct ClusterMap: Sendable, Equatable {
    /// One database of the cluster.
    package struct Cell: Sendable, Hashable {
        package let number: Int16
        package let name: String
        /// Where it is, without who logs in.
        package let place: String
        /// Whether it is a hub: it has what all cells share and no events, and its views read all cells.
        package let isHub: Bool

        package init(number: Int16, name: String, place: String, isHub: Bool = false) {
            (self.number, self.name, self.place, self.isHub) = (number, name, place, isHub)
        }

        /// Its URL for whoever logs in there.
        package func url(for user: String?) -> String { ConnectionString.url(of: place, user: user) }
    }

    package let cluster: UUID
    package var epoch: Int64
    /// The number of the cell that says so.
    package let own: Int16
    /// In the order of their numbers.
    package var cells: [Cell]
    /// The number of the cell of each shard; 0 while the shard is being moved.
    package var holders: [Int16]

    package init(cluster: UUID, epoch: Int64, own: Int16, cells: [Cell], holders: [Int16]) {
        (self.cluster, self.epoch, self.own, self.cells, self.holders) = (cluster, epoch, own, cells, holders)
    }

    /// Reads the map of a database; nil if that belongs to no cluster.
    package static func read(on connection: inout Connection) throws(PostgresError) -> ClusterMap? {
        let row = try connection.query(
            """
            SELECT s.cluster, s.epoch, s.cell, ARRAY(SELECT cell FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT name FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT connection FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT cell FROM cluster.cell WHERE is_hub),
                ARRAY(SELECT coalesce(cell, 0::smallint) FROM cluster.map ORDER BY shard)
            FROM cluster.state AS s
            """)[0]
        guard let cluster: UUID = try row.optional(0) else { return nil }
        let (numbers, names): ([Int16], [String]) = (try row.get(3), try row.get(4))
        let (places, hubs): ([String], [Int16]) = (try row.get(5), try row.get(6))
        let cells = numbers.indices.map {
            Cell(number: numbers[$0], name: names[$0], place: places[$0], isHub: hubs.contains(numbers[$0]))
        }
        return ClusterMap(
            cluster: cluster, epoch: try row.get(1), own: try row.get(2), cells: cells, holders: try row.get(7))
    }

    /// Makes this the map of a database, which becomes the cell `own`. Returns false, and changes nothing, if that has a map of
    /// this epoch or a later one.
    @discardableResult
    package func write(as own: Int16, on connection: inout Connection) throws(PostgresError) -> Bool {
        if cell(own)?.isHub == true, let password = connection.password {
            // A hub logs in to the cells as whoever writes this.
            try connection.query("SELECT set_config('bellwether.cell_password', \(password), false)")
        }
        return try connection.query(
            """
            SELECT cluster.take_map(
                \(cluster), \(epoch), \(own), \(cells.map(\.number)), \(cells.map(\.name)), \(cells.map(\.place)),
                \(cells.map(\.isHub)), \(Nullables(holders.map { $0 == 0 ? nil : $0 })))
            """)[0].get(0)
    }

    package func cell(_ number: Int16) -> Cell? { cells.first { $0.number == number } }

    /// Whether the database that says so is a hub.
    package var isOfHub: Bool { cell(own)?.isHub == true }

    /// The cell in which everything begins that all cells have: apps, keys, categories, sends.
    package var first: Cell? { cells.first }

    /// The number of the cell that takes the events of an install; 0 while its shard is being moved.
    package func holder(of install: UUID) -> Int16 {
        holders.isEmpty ? own : holders[Int(Shard.of(install, among: Int16(holders.count)))]
    }
}
