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
        name given: String? = nil, place: String, on connection: inout Connection
    ) throws(ClusterError) -> ClusterMap {
        let name = given ?? nextName(among: [])
        try check(name)
        do {
            if let map = try ClusterMap.read(on: &connection) {
                guard let own = map.cell(map.own), given.map({ $0 != own.name }) ?? false || own.place != place else {
                    return map
                }
                throw ClusterError.alreadyIn(cell: own.name)
            }
            let shards = try Shard.count(on: &connection)
            let cluster: UUID = try connection.query("SELECT gen_random_uuid()")[0].get(0)
            let map = ClusterMap(
                cluster: cluster, epoch: 1, own: 1, cells: [ClusterMap.Cell(number: 1, name: name, place: place)],
                holders: [Int16](repeating: 1, count: Int(shards)), leastEpochs: [1: 1])
            guard try map.write(as: 1, knowing: map.shards, on: &connection) else { throw ClusterError.overtaken }
            return map
        } catch { throw ClusterError(error) }
    }

    /// Adds a database as one more cell, which has no shard yet. Migrates it first, and gives it what all cells share.
    /// Done again, it continues where it was interrupted. Returns the cells that could not be told.
    ///
    /// A hub never gets a shard. It needs what only a superuser of its server can permit; `superuser` is a URL of one.
    package func add(
        name given: String? = nil, url: String, isHub: Bool = false, superuser: String? = nil
    ) throws -> (name: String, untold: [(cell: ClusterMap.Cell, error: PostgresError)]) {
        if let given { try Self.check(given) }
        let place = try Self.place(of: url, ownURL: ownURL)
        try levelMaps()
        let name =
            given ?? map.cells.first { $0.place == place }?.name
            ?? Self.nextName(among: map.cells.map(\.name), isHub: isHub)
        if let known = map.cells.first(where: { $0.name == name || $0.place == place }) {
            guard known.name == name else { throw ClusterError.placeTaken(by: known.name) }
            guard known.place == place, known.isHub == isHub else { throw ClusterError.nameTaken(name) }
            // An earlier run was killed before it had told all cells.
            if isHub { try permit(known, superuser: superuser) }
            let untold = try bringUp(known)
            if isHub { try gather(in: known, superuser: superuser) }
            return (name, untold)
        }
        let cell = ClusterMap.Cell(number: try number(at: place, isHub: isHub), name: name, place: place, isHub: isHub)
        try prepare(cell, isReturning: try isFormer(cell))
        if isHub { try permit(cell, superuser: superuser) }
        var next = map
        next.epoch += 1
        next.cells.append(cell)
        next.cells.sort { $0.number < $1.number }
        next.leastEpochs[cell.number] = next.epoch
        let untold = try tell(next)
        // What was stored before this cell was known. Processes that store something from now on see the new map in the
        // first cell.
        CrashPoint.pass("cell told")
        _ = try share(SharedTables.all, with: cell)
        if isHub { try gather(in: cell, superuser: superuser) }
        return (name, untold)
    }

    /// The number of a cell to be: a new one, or that which its database had when it left this cluster.
    private func number(at place: String, isHub: Bool) throws -> Int16 {
        let log = self.log
        let known: ClusterMap?
        do {
            var connection = try Self.open(url(of: place), log: log)
            known = try? ClusterMap.read(on: &connection)
        } catch { throw ClusterError.database(error) }
        if let known, known.cluster == map.cluster {
            if let cell = map.cell(known.own) { throw ClusterError.isCopy(of: cell.name) }
            guard known.isOfHub == isHub else { throw ClusterError.wasOther(isHub: known.isOfHub) }
            return known.own
        }
        let former = try working(on: try first) { first in try CellLeftovers.greatestNumber(on: &first) }
        return max(map.cells.map(\.number).max() ?? 0, former) + 1
    }

    /// Whether a cell left the cluster before. What it counted must be in the first cell.
    private func isFormer(_ cell: ClusterMap.Cell) throws -> Bool {
        guard !cell.isHub else { return false }
        let first = try self.first
        if let left = try working(on: first, { connection in try CellLeftovers.unsettled(on: &connection) })
            .first(where: { $0.number == cell.number })
        {
            // It may have another place by now.
            try settle(ClusterMap.Cell(number: left.number, name: left.name, place: cell.place))
        }
        return try working(on: first) { connection in try CellLeftovers.isFormer(cell.number, on: &connection) }
    }

    /// Says where a cell is from now on. The database must be there already, and answer. Returns the cells that could
    /// not be told.
    package func setPlace(
        of name: String, to url: String
    ) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        let place = try Self.place(of: url, ownURL: ownURL)
        try levelMaps()
        guard let cell = map.cells.first(where: { $0.name == name }) else { throw ClusterError.unknownCell(name) }
        if let other = map.cells.first(where: { $0.place == place && $0 != cell }) {
            throw ClusterError.placeTaken(by: other.name)
        }
        let there: ClusterMap?
        do {
            var connection = try Self.open(self.url(of: place), log: log)
            there = try ClusterMap.read(on: &connection)
        } catch { throw ClusterError.database(error) }
        guard let there, there.cluster == map.cluster, there.own == cell.number else {
            throw ClusterError.isNotCell(name)
        }
        guard cell.place != place else { return [] }
        var next = map
        next.epoch += 1
        next.cells = next.cells.map {
            $0 == cell ? ClusterMap.Cell(number: cell.number, name: name, place: place, isHub: cell.isHub) : $0
        }
        return try tell(next)
    }

    /// Takes a cell without shards, or a hub, out of the cluster. What the cell has besides events goes to the first
    /// cell, as soon as no hub reads it any more; its database stays as it is, and takes no events. Done again, it
    /// continues where it was interrupted. Returns the cells that could not be told.
    package func remove(_ name: String) throws -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        try levelMaps()
        let first = try self.first
        guard let cell = map.cells.first(where: { $0.name == name }) else {
            let left = try working(on: first) { connection in try CellLeftovers.unsettled(on: &connection) }
            guard let cell = left.first(where: { $0.name == name }) else { throw ClusterError.unknownCell(name) }
            try settle(cell)
            return []
        }
        guard cell != first else { throw ClusterError.isFirst(name) }
        let shards = map.holders.indices.map { Int16($0) }.filter { shard in
            let move = map.move(of: shard)
            return map.holders[Int(shard)] == cell.number || move?.home == cell.number || move?.other == cell.number
        }
        guard shards.isEmpty else { throw ClusterError.hasShards(shards, cell: name) }
        if !cell.isHub {
            try working(on: first) { connection in try CellLeftovers.announce(cell, on: &connection) }
        }
        var next = map
        next.epoch += 1
        next.cells.removeAll { $0 == cell }
        next.leastEpochs[cell.number] = nil
        let untold = try tell(next)
        CrashPoint.pass("cell left")
        if !cell.isHub { try settle(cell) }
        return untold.filter { !$0.cell.isHub || cell.isHub }
    }

    /// Gives the first cell what a cell counted that has left the cluster. Before, all hubs must have heard that it
    /// left: otherwise they would count it twice.
    func settle(_ cell: ClusterMap.Cell) throws {
        let map = self.map
        for hub in map.cells where hub.isHub {
            _ = try insisting(on: hub) { connection throws(PostgresError) in
                try map.write(as: hub.number, on: &connection)
            }
        }
        let first = try self.first
        try working(on: cell) { source in
            try working(on: first) { target in try CellLeftovers.bring(of: cell, from: &source, to: &target) }
        }
    }

    /// Makes sure that the owner of a hub may reach other databases from it.
    private func permit(_ hub: ClusterMap.Cell, superuser: String?) throws {
        let (owner, isPermitted): (String, Bool) = try working(on: hub) { connection in
            let row = try connection.query(
                """
                SELECT current_user::text, coalesce(bool_or(has_foreign_data_wrapper_privilege(oid, 'USAGE')), false)
                FROM pg_foreign_data_wrapper WHERE fdwname = 'postgres_fdw'
                """)[0]
            return (try row.get(0), try row.get(1))
        }
        guard !isPermitted else { return }
        let script = """
            CREATE EXTENSION IF NOT EXISTS postgres_fdw; \
            GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO \(Statement.quoted(owner))
            """
        guard let superuser else { throw ClusterError.notPermitted(hub: hub.name, script: script) }
        do throws(PostgresError) {
            var administrator = try Self.open(superuser, log: log)
            try administrator.execute(script: script)
        } catch { throw ClusterError.database(error) }
    }

    /// Gives a hub its views of all cells, and reads one of them.
    private func gather(in hub: ClusterMap.Cell, superuser: String?) throws {
        let log = self.log
        _ = try working(on: hub) { connection in try Migrations.run(on: &connection, log: log) }
        // With the password of now: a hub that has the map already does not take it again.
        try insisting(on: hub) { connection throws(PostgresError) in try ClusterMap.reachCells(from: &connection) }
        // Where a server asks for no password, only a superuser may let others log in there from here.
        let open: [(server: String, owner: String)] = try working(on: hub) { connection in
            var open: [(String, String)] = []
            for row in try connection.query(
                """
                SELECT srvname::text, usename::text FROM pg_user_mappings AS m
                WHERE usename = current_user
                    AND NOT EXISTS (SELECT FROM unnest(m.umoptions) AS o WHERE o ~ '^password(_required)?=')
                """)
            { open.append((try row.get(0), try row.get(1))) }
            return open
        }
        if let superuser, !open.isEmpty {
            do throws(PostgresError) {
                var administrator = try Self.open(superuser, log: log)
                for (server, owner) in open {
                    try administrator.execute(
                        script: """
                            ALTER USER MAPPING FOR \(Statement.quoted(owner)) SERVER \(Statement.quoted(server))
                            OPTIONS (ADD password_required 'false')
                            """)
                }
            } catch { throw ClusterError.database(error) }
        }
        do { _ = try working(on: hub) { connection in try connection.query("SELECT count(*) FROM hub.apps") } } catch {
            throw ClusterError.hubCannotRead(hub: hub.name, ClusterError(error))
        }
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

    /// Migrates the database of a new cell, makes sure that it has nothing of its own, and gives it what all cells
    /// share.
    private func prepare(_ cell: ClusterMap.Cell, isReturning: Bool = false) throws {
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
                // What it counted while it was a cell before, the first cell has.
                if isReturning { try CellLeftovers.remove(on: &connection) }
                return
            }
            guard try connection.query("SELECT FROM log.batch LIMIT 1").isEmpty else {
                throw ClusterError.notEmpty("events")
            }
            // An interrupted run may have copied apps.
            let apps = Set(try Apps.list(on: &connection).map { "\($0.id) \($0.slug)" })
            guard apps.isSubset(of: known) else { throw ClusterError.notEmpty("apps") }
        }
        _ = try share(SharedTables.all + SharedTables.export, with: cell)
        for table in SharedTables.all where try surplus(of: table, in: cell) > 0 {
            throw ClusterError.notEmpty("rows in \(table.name)")
        }
        _ = try shareMergedWords(with: cell)
    }

    /// What a cell is called that nobody names: cell-1, cell-2 and so on; a hub: hub, hub-2 and so on.
    private static func nextName(among taken: [String], isHub: Bool = false) -> String {
        (1...).lazy.map { isHub ? $0 == 1 ? "hub" : "hub-\($0)" : "cell-\($0)" }.first { !taken.contains($0) } ?? ""
    }

    private static func check(_ name: String) throws(ClusterError) {
        guard name.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,62}/) != nil else { throw .invalidName(name) }
    }
}
