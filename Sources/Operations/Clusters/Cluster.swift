internal import Accounts
package import EventLog
package import Postgres
package import ServiceRuntime

/// A cluster as its owner works on it, from one of its cells.
///
/// Its sessions stay open, so one thread uses it, for one command.
package final class Cluster {
    /// The map of the cell that this was opened in.
    package private(set) var map: ClusterMap
    /// The URL of that cell.
    let ownURL: String
    let log: Log
    private var sessions: [ClusterMap.Cell: Session] = [:]
    /// When everything that is asked of any cell ends, with an error if it is not done.
    var deadline = Deadline.never

    /// A connection that stays while it is not used.
    private final class Session {
        var connection: Connection
        init(_ connection: consuming Connection) { self.connection = connection }
    }

    /// Nil if the database belongs to no cluster. `url` is that of the database; the other cells are opened as the same
    /// user.
    package init?(of connection: inout Connection, url: String, log: Log) throws(PostgresError) {
        guard let map = try ClusterMap.read(on: &connection) else { return nil }
        (self.map, ownURL, self.log) = (map, url, log)
    }

    /// The cell in which everything begins that all cells have.
    package var first: ClusterMap.Cell {
        get throws(ClusterError) {
            guard let first = map.first else { throw .notInCluster }
            return first
        }
    }

    package var others: ArraySlice<ClusterMap.Cell> { map.cells.dropFirst() }

    /// Goes by a newer map, for example one that another cell has.
    func follow(_ newer: ClusterMap) {
        sessions = sessions.filter { newer.cells.contains($0.key) }
        map = ClusterMap(
            cluster: map.cluster, epoch: newer.epoch, own: map.own, cells: newer.cells, holders: newer.holders,
            moves: newer.moves, leastEpochs: newer.leastEpochs)
    }

    /// Runs `body` with a connection to a cell.
    package func on<Result>(
        _ cell: ClusterMap.Cell, _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        let session = try session(of: cell)
        session.connection.deadline = deadline
        return try body(&session.connection)
    }

    /// Like the other `working`, for a body with errors of its own.
    package func working<Result>(
        on cell: ClusterMap.Cell, _ body: (inout Connection) throws -> Result
    ) throws -> Result {
        let session: Session
        do { session = try self.session(of: cell) } catch {
            throw ClusterError.unreachable(cell: cell.name, error)
        }
        session.connection.deadline = deadline
        return try body(&session.connection)
    }

    private func session(of cell: ClusterMap.Cell) throws(PostgresError) -> Session {
        if let session = sessions[cell], session.connection.isUsable { return session }
        let session = Session(try Cluster.open(url(of: cell), log: log))
        sessions[cell] = session
        return session
    }

    /// The URL of a cell for the user of this cluster.
    package func url(of cell: ClusterMap.Cell) -> String { cell.number == map.own ? ownURL : url(of: cell.place) }

    /// The URL of a place for the user of this cluster.
    func url(of place: String) -> String { ConnectionString.url(of: place, user: ConnectionString.user(of: ownURL)) }

    static func open(_ url: String, log: Log) throws(PostgresError) -> Connection {
        var connection = try LogSession.open(url: url, role: nil, purpose: "cluster", log: log, statementSeconds: 600)
        // Most statements are short, and compiling one takes a second of a switch.
        try connection.execute(script: "SET jit = off")
        return connection
    }

    /// Makes this the map of all cells, the first one first: if that already has a map of this epoch, somebody else was
    /// faster. If the process is killed between two cells, `check` does the rest. Returns the cells that could not be
    /// told. `known`: the shards that the caller is moving now.
    func tell(
        _ next: ClusterMap, knowing known: [Int16] = [], except isPassedOver: (ClusterMap.Cell) -> Bool = { _ in false }
    ) throws(ClusterError) -> [(
        cell: ClusterMap.Cell, error: PostgresError
    )] {
        var untold: [(cell: ClusterMap.Cell, error: PostgresError)] = []
        // In the place that it has by the next map.
        guard let first = next.first else { throw .notInCluster }
        let isNew: Bool
        do {
            isNew = try on(first) { connection throws(PostgresError) in
                try next.write(as: first.number, knowing: known, on: &connection)
            }
        } catch { throw .unreachable(cell: first.name, error) }
        guard isNew else { throw .overtaken }
        CrashPoint.pass("map told to the first cell")
        follow(next)
        // The cell that takes the events first, and hubs last, so that the events wait for nobody.
        let holders = Set(known.map { next.holders[Int($0)] })
        func rank(_ cell: ClusterMap.Cell) -> Int { cell.isHub ? 2 : holders.contains(cell.number) ? 0 : 1 }
        let others = (0...2).flatMap { place in next.cells.filter { rank($0) == place } }
        for cell in others where cell.number != first.number && !isPassedOver(cell) {
            do {
                _ = try on(cell) { connection throws(PostgresError) in
                    try next.write(as: cell.number, knowing: known, on: &connection)
                }
            } catch { untold.append((cell, error)) }
        }
        return untold
    }
}
