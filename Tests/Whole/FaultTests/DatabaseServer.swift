import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport

/// A PostgreSQL server of a test's own with a migrated database, run by somebody else than Bellwether.
final class DatabaseServer: Sendable {
    static let database = "shop"

    let cluster: EmbeddedServer
    private let port = UInt16.random(in: 20_000..<32_000)
    private let files = TemporaryDirectory()

    /// With `listening`, it can also be reached by an address.
    init(listening: Bool = false) throws {
        var settings = ServerOptions.throwawaySettings
        if listening {
            try "local all all peer map=embedded\nhost all all 127.0.0.1/32 trust\n".write(
                toFile: files("access"), atomically: false, encoding: .utf8)
            settings.merge(
                ["hba_file": files("access"), "listen_addresses": "127.0.0.1", "port": "\(port)"],
                uniquingKeysWith: { $1 })
        }
        cluster = try TestPostgres.separate(Self.migrated, settings: settings)
        // Each database has one of its own.
        var administrator = try administrator()
        try administrator.execute(script: "UPDATE projection.generation SET secret = DEFAULT")
    }

    private static let migrated = DataTemplate<Void> { directory in
        try TestPostgres.empty.copy(to: directory)
        let cluster = try TestPostgres.use(directory)
        defer { cluster.release() }
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        try administrator.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        try administrator.execute(script: "CREATE DATABASE \(database) OWNER \(TestPostgres.owner)")
        let url = cluster.connectionURL(database: database, user: TestPostgres.owner)
        _ = try Bellwether(database: url).trusted("migrate")
    }

    deinit { TestPostgres.remove(cluster) }

    /// For the owner of everything.
    var url: String { cluster.connectionURL(database: Self.database, user: TestPostgres.owner) }

    /// The same by way of an address.
    func url(host: String) -> String { "postgresql://\(TestPostgres.owner)@\(host):\(port)/\(Self.database)" }

    /// Where its files are.
    var directory: String { cluster.dataDirectory + "/pg/data" }

    /// The first process.
    var postmaster: pid_t? { Bellwether(data: cluster.dataDirectory).postmaster }

    func administrator(of database: String = DatabaseServer.database) throws -> Connection {
        var connection = try Connection(url: cluster.connectionURL(database: database))
        connection.deadline = .after(seconds: 60)
        return connection
    }

    /// Stops it in good order.
    func stop() throws { _ = try EmbeddedServer.stop(dataDirectory: cluster.dataDirectory, force: true) }

    /// Starts it again.
    func start() throws { try cluster.ensureRunning() }
}
