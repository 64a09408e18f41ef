package import Postgres
internal import ServiceRuntime
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

        /// Its URL with this user in it.
        package func url(for user: String?) -> String { ConnectionString.url(of: place, user: user) }
    }

    /// Two cells have events of a shard that is being moved. The copy at `home` is whole, and hubs show it; the other
    /// one is being filled or emptied.
    package struct Move: Sendable, Hashable {
        package let shard: Int16
        package let home: Int16
        package let other: Int16
        package let isArriving: Bool

        package init(shard: Int16, home: Int16, other: Int16, isArriving: Bool) {
            (self.shard, self.home, self.other, self.isArriving) = (shard, home, other, isArriving)
        }
    }

    package let cluster: UUID
    package var epoch: Int64
    /// The number of the cell that says so.
    package let own: Int16
    /// In the order of their numbers.
    package var cells: [Cell]
    /// The number of the cell that takes the events of each shard; 0 for the moment in which a move changes it.
    package var holders: [Int16]
    /// The shards that are being moved, in their order.
    package var moves: [Move]
    /// By the number of a cell: the last epoch that changed which copies it has. A cell with an older map was restored
    /// from a backup.
    package var leastEpochs: [Int16: Int64]

    package init(
        cluster: UUID, epoch: Int64, own: Int16, cells: [Cell], holders: [Int16], moves: [Move] = [],
        leastEpochs: [Int16: Int64] = [:]
    ) {
        (self.cluster, self.epoch, self.own, self.cells) = (cluster, epoch, own, cells)
        (self.holders, self.moves, self.leastEpochs) = (holders, moves, leastEpochs)
    }

    /// Reads the map of a database; nil if that belongs to no cluster.
    package static func read(on connection: inout Connection) throws(PostgresError) -> ClusterMap? {
        let bound = connection.hurry()
        defer { connection.deadline = bound }
        let row = try connection.query(
            """
            SELECT s.cluster, s.epoch, s.cell, ARRAY(SELECT cell FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT name FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT connection FROM cluster.cell ORDER BY cell),
                ARRAY(SELECT cell FROM cluster.cell WHERE is_hub),
                ARRAY(SELECT coalesce(cell, 0::smallint) FROM cluster.map ORDER BY shard),
                ARRAY(SELECT home FROM cluster.map ORDER BY shard),
                ARRAY(SELECT coalesce(arriving, leaving) FROM cluster.map ORDER BY shard),
                ARRAY(SELECT shard FROM cluster.map WHERE arriving IS NOT NULL),
                ARRAY(SELECT least_epoch FROM cluster.cell ORDER BY cell)
            FROM cluster.state AS s
            """)[0]
        guard let cluster: UUID = try row.optional(0) else { return nil }
        let (numbers, names): ([Int16], [String]) = (try row.get(3), try row.get(4))
        let (places, hubs): ([String], [Int16]) = (try row.get(5), try row.get(6))
        let cells = numbers.indices.map {
            Cell(number: numbers[$0], name: names[$0], place: places[$0], isHub: hubs.contains(numbers[$0]))
        }
        let (homes, others): (Nullables<Int16>, Nullables<Int16>) = (try row.get(8), try row.get(9))
        let arriving: [Int16] = try row.get(10)
        let moves = zip(homes.elements, others.elements).enumerated().compactMap { shard, cells -> Move? in
            guard let home = cells.0, let other = cells.1 else { return nil }
            let shard = Int16(shard)
            return Move(shard: shard, home: home, other: other, isArriving: arriving.contains(shard))
        }
        let leastEpochs: [Int64] = try row.get(11)
        return ClusterMap(
            cluster: cluster, epoch: try row.get(1), own: try row.get(2), cells: cells, holders: try row.get(7),
            moves: moves, leastEpochs: Dictionary(uniqueKeysWithValues: zip(numbers, leastEpochs)))
    }

    /// SQL: whether a row of this shard is shown to its reader. Hubs do not show the second copy of a shard that is
    /// being moved; everybody else sees all rows of a database. A cell that was restored from a backup shows hubs
    /// nothing, also where it has no row: what it lacks is not nothing.
    package static func isShown(_ shard: String) -> String {
        "(SELECT cluster.is_whole()) AND ((SELECT cluster.hidden_shards()) IS NULL OR "
            + "\(shard) <> ALL ((SELECT cluster.hidden_shards())::smallint[]))"
    }

    /// Makes this the map of a database, which becomes the cell `own`. Returns false, and changes nothing, if that has
    /// a map of this epoch or a later one. Fails if the database is older than a move that the map knows of
    /// (`comparison`), except of the `known` shards.
    @discardableResult
    package func write(
        as own: Int16, knowing known: [Int16] = [], on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        let bound = connection.hurry()
        defer { connection.deadline = bound }
        if cell(own)?.isHub == true { try Self.prepareHub(&connection) }
        return try connection.query(
            """
            SELECT cluster.take_map(
                \(cluster), \(epoch), \(own), \(cells.map(\.number)), \(cells.map(\.name)), \(cells.map(\.place)),
                \(cells.map(\.isHub)), \(cells.map { leastEpochs[$0.number] ?? 0 }), \(ofShards.holders),
                \(ofShards.homes), \(ofShards.arriving), \(ofShards.leaving), \(known))
            """)[0].get(0)
    }

    /// Lets a hub reach the cells again, as the login that asks for it.
    package static func reachCells(from hub: inout Connection) throws(PostgresError) {
        let bound = hub.hurry()
        defer { hub.deadline = bound }
        try prepareHub(&hub)
        try hub.query("SELECT cluster.reach_cells()")
    }

    private static func prepareHub(_ connection: inout Connection) throws(PostgresError) {
        if let password = connection.password {
            // A hub logs in to the cells as the login that writes this.
            try connection.query("SELECT set_config('bellwether.cell_password', \(password), false)")
        }
        // Readers of the hub wait behind this while it waits for one of them.
        try connection.query("SELECT set_config('lock_timeout', '300ms', false)")
    }

    /// The columns of `cluster.map`.
    private var ofShards:
        (holders: Nullables<Int16>, homes: Nullables<Int16>, arriving: Nullables<Int16>, leaving: Nullables<Int16>)
    {
        func column(_ cell: (Move) -> Int16?) -> Nullables<Int16> {
            Nullables(holders.indices.map { shard in move(of: Int16(shard)).flatMap(cell) })
        }
        return (
            Nullables(holders.map { $0 == 0 ? nil : $0 }), column(\.home), column { $0.isArriving ? $0.other : nil },
            column { $0.isArriving ? nil : $0.other }
        )
    }

    /// What a database cannot follow of a map, because it was restored from an older backup.
    package struct Comparison: Sendable {
        /// Shards of which it has events, and which the map says are elsewhere.
        package var surplus: [Int16] = []
        /// Those of which it had all events.
        package var whole: [Int16] = []
        /// Shards that it should have, and which it never got whole.
        package var missing: [Int16] = []

        package var isEmpty: Bool { surplus.isEmpty && missing.isEmpty }
    }

    /// Compares a database with this map, as the cell `own`.
    package func comparison(as own: Int16, on connection: inout Connection) throws(PostgresError) -> Comparison {
        let bound = connection.hurry()
        defer { connection.deadline = bound }
        let row = try connection.query(
            """
            SELECT ARRAY(
                    SELECT shard FROM unnest(surplus) AS shard
                    WHERE EXISTS (SELECT FROM log.batch_expected AS b WHERE b.shard_events[shard + 1] > 0)),
                whole, missing
            FROM cluster.compare_map(\(own), \(ofShards.holders), \(ofShards.homes), \(ofShards.arriving),
                \(ofShards.leaving))
            """)[0]
        let surplus: [Int16] = try row.get(0)
        let whole: [Int16] = try row.get(1)
        return Comparison(surplus: surplus, whole: whole.filter(surplus.contains), missing: try row.get(2))
    }

    /// The same map of the next epoch, in which these shards have another cell that takes their events, and other
    /// copies.
    package func next(
        _ shards: [Int16], takenBy holder: Int16, _ move: (home: Int16, other: Int16, isArriving: Bool)?
    ) -> ClusterMap {
        var next = self
        next.epoch += 1
        next.moves.removeAll { shards.contains($0.shard) }
        for shard in shards {
            next.holders[Int(shard)] = holder
            guard let move else { continue }
            next.moves.append(Move(shard: shard, home: move.home, other: move.other, isArriving: move.isArriving))
        }
        next.moves.sort { $0.shard < $1.shard }
        for shard in shards {
            let (before, after) = (copies(of: shard), next.copies(of: shard))
            guard before != after else { continue }
            for cell in before + after where cell != 0 { next.leastEpochs[cell] = next.epoch }
        }
        return next
    }

    /// The cells that have events of a shard: first the one whose copy hubs show, then one whose copy arrives or
    /// leaves.
    private func copies(of shard: Int16) -> [Int16] {
        move(of: shard).map { [$0.home, $0.other] } ?? [holders[Int(shard)]]
    }

    package var shards: [Int16] { holders.indices.map { Int16($0) } }

    package func move(of shard: Int16) -> Move? { moves.first { $0.shard == shard } }

    package func cell(_ number: Int16) -> Cell? { cells.first { $0.number == number } }

    /// Whether the database that says so is a hub.
    package var isOfHub: Bool { cell(own)?.isHub == true }

    /// The cell in which everything begins that all cells have: apps, keys, categories, sends.
    package var first: Cell? { cells.first }
}

extension Connection {
    /// Gives what is done with the map ten seconds, since everybody would wait for a cell that stands still. Returns
    /// the deadline from before.
    fileprivate mutating func hurry() -> Deadline {
        let before = deadline
        deadline = min(before, .after(seconds: 10))
        return before
    }
}
