internal import Accounts
package import EventLog
internal import Migrations
package import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Cluster {
    /// Makes a database the first cell of a new cluster. It keeps all its shards, and nothing in it is rewritten.
    package static func create(
        name: String, place: String, on connection: inout Connection
    ) throws(ClusterError) -> ClusterMap {
        try check(name)
        do {
            if let map = try ClusterMap.read(on: &connection) {
                guard let own = map.cell(map.own), own.name != name || own.place != place else { return map }
                throw ClusterError.alreadyIn(cell: own.name)
            }
            let shards = try Shard.count(on: &connection)
            let cluster: UUID = try connection.query("SELECT gen_random_uuid()")[0].get(0)
            let map = ClusterMap(
                cluster: cluster, epoch: 1, own: 1, cells: [ClusterMap.Cell(number: 1, name: name, place: place)],
                holders: [Int16](repeating: 1, count: Int(shards)))
            guard try map.write(as: 1, on: &connection) else { throw ClusterError.overtaken }
            return map
        } catch { throw ClusterError(error) }
    }

    /// Adds a database as one more cell, which has no shard yet. Migrates it first, and gives it what all cells share. Done
    /// again, it continues where it was interrupted. Returns the cells that could not be told.
    package func add(name: String, url: String) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        try Self.check(name)
        let place = try Self.place(of: url, ownURL: ownURL)
        if let known = map.cells.first(where: { $0.name == name || $0.place == place }) {
            guard known.name == name else { throw ClusterError.placeTaken(by: known.name) }
            guard known.place == place else { throw ClusterError.nameTaken(name) }
            // An earlier run was killed before it had told all cells.
            return try bringUp(known)
        }
        let cell = ClusterMap.Cell(number: (map.cells.map(\.number).max() ?? 0) + 1, name: name, place: place)
        try prepare(cell)
        var next = map
        next.epoch += 1
        next.cells.append(cell)
        return try tell(next)
    }

    /// Where a cell is, from the URL that a person gave for it.
    package static func place(of url: String, ownURL: String) throws(ClusterError) -> String {
        guard !ConnectionString.hasPassword(url) else { throw .holdsPassword }
        let own = ConnectionString.user(of: ownURL)
        if let user = ConnectionString.user(of: url), user != own { throw .otherUser(user, own: own) }
        do { return try ConnectionString.place(of: url) } catch { throw .database(error) }
    }

    /// Gives every cell the present map, and what all cells share.
    private func bringUp(_ cell: ClusterMap.Cell) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        try prepare(cell)
        var untold: [(cell: ClusterMap.Cell, error: PostgresError)] = []
        for other in map.cells {
            do throws(PostgresError) {
                _ = try on(other) { connection throws(PostgresError) in try map.write(as: other.number, on: &connection)
                }
            } catch { untold.append((other, error)) }
        }
        return untold
    }

    /// Migrates the database of a new cell, makes sure that it has nothing of its own, and gives it what all cells share.
    private func prepare(_ cell: ClusterMap.Cell) throws {
        let log = self.log
        let shards = Int16(map.holders.count)
        let cluster = map.cluster
        let known = Set(
            try working(on: try first) { connection in try Apps.list(on: &connection).map { "\($0.id) \($0.slug)" } })
        try working(on: cell) { connection in
            _ = try Migrations.run(shards: shards, on: &connection, log: log)
            let present = try Shard.count(on: &connection)
            guard present == shards else { throw ClusterError.otherShards(present, own: shards) }
            if let other = try ClusterMap.read(on: &connection) {
                guard other.cluster == cluster, other.own == cell.number else { throw ClusterError.inAnotherCluster }
                return
            }
            guard try connection.query("SELECT FROM log.batch LIMIT 1").isEmpty else {
                throw ClusterError.notEmpty("events")
            }
            // An interrupted run may have copied apps.
            let apps = Set(try Apps.list(on: &connection).map { "\($0.id) \($0.slug)" })
            guard apps.isSubset(of: known) else { throw ClusterError.notEmpty("apps") }
        }
        _ = try share(SharedTables.all, with: cell)
        for table in SharedTables.all where try differs(table, in: cell) {
            throw ClusterError.notEmpty("rows in \(table.name)")
        }
    }

    private static func check(_ name: String) throws(ClusterError) {
        guard name.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,62}/) != nil else { throw .invalidName(name) }
    }
}

extension ClusterError {
    /// Wraps PostgreSQL's errors, and keeps our own as they are.
    init(_ error: any Error) {
        switch error {
        case let error as ClusterError: self = error
        case let error as PostgresError: self = .database(error)
        default: self = .database(.decoding("\(error)"))
        }
    }
}
