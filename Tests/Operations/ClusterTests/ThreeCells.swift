import Clusters
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

/// A cluster of three cells with an app: the first has half of the shards, the others a quarter each. The cells are
/// databases of one server; what must happen to a server happens to one of its own.
struct ThreeCells {
    let databases: [TestDatabase]
    let app: TestApp
    let map: ClusterMap

    /// Copies those that were made first: moving shards takes seconds.
    init() throws {
        let first = try Self.first.get()
        databases = try first.databases.map { try TestDatabase.make(.copy(of: $0)) }
        app = first.app.copied(to: databases[0])
        var cells: [ClusterMap.Cell] = []
        for (cell, database) in zip(first.map.cells, databases) {
            cells.append(ClusterMap.Cell(number: cell.number, name: cell.name, place: try Self.place(of: database)))
        }
        for database in databases {
            var connection = try database.connect()
            for cell in cells {
                try connection.query("UPDATE cluster.cell SET connection = \(cell.place) WHERE cell = \(cell.number)")
            }
        }
        var connection = try databases[0].connect()
        map = try #require(try ClusterMap.read(on: &connection))
    }

    private static let first = Result {
        let first = try ThreeCells(making: ())
        for database in first.databases { try database.close() }
        return first
    }

    private init(making _: Void) throws {
        databases = try (0..<3).map { _ in try TestDatabase.make(.withUsualShards) }
        app = try databases[0].makeApp()
        var connection = try databases[0].connect()
        _ = try Cluster.create(name: "cell-1", place: try Self.place(of: databases[0]), on: &connection)
        let cluster = try #require(
            try Cluster(of: &connection, url: try databases[0].url(), log: .silent))
        for (place, database) in databases.enumerated().dropFirst() {
            // As they are called that nobody names.
            let (name, untold) = try cluster.add(url: try Self.place(of: database))
            #expect(name == "cell-\(place + 1)" && untold.isEmpty)
        }
        #expect(try cluster.move([8, 9, 10, 11], to: "cell-2").isEmpty)
        #expect(try cluster.move([12, 13, 14, 15], to: "cell-3").isEmpty)
        map = cluster.map
    }

    func drop() { for database in databases { database.drop() } }

    static func place(of database: TestDatabase) throws -> String { try ConnectionString.place(of: database.url()) }

    /// The cluster as somebody sees it who begins in its first cell.
    func cluster() throws -> Cluster {
        var connection = try databases[0].connect()
        return try #require(try Cluster(of: &connection, url: try databases[0].url(), log: .silent))
    }

    /// An install whose events a cell takes, by the cell's place.
    func install(of place: Int) -> String {
        while true {
            let install = Wire.id()
            if let id = UUID(install), map.holder(of: id) == Int16(place + 1) { return install }
        }
    }

    /// The installs that have events in each cell.
    func installs() throws -> [[String]] {
        try databases.map { try $0.column("SELECT DISTINCT install_id::text FROM log.event ORDER BY 1") }
    }

    /// Answers nobody any more, as a server does that is away.
    func close(_ place: Int) throws { try databases[place].close() }

    func open(_ place: Int) throws { try databases[place].open() }
}

extension ThreeCells {
    /// One more database, which becomes the hub.
    func makeHub() throws -> TestDatabase {
        let hub = try TestDatabase.make(.withUsualShards)
        let (name, untold) = try cluster().add(
            url: try Self.place(of: hub), isHub: true, superuser: try hub.url(as: "postgres"))
        #expect(name == "hub" && untold.isEmpty)
        return hub
    }
}

extension ClusterMap {
    /// The number of the cell that takes the events of an install; 0 while its shard is being moved.
    func holder(of install: UUID) -> Int16 { holders[Int(Shard.of(install, among: Int16(holders.count)))] }
}
