import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport

/// A PostgreSQL server of a test's own with a migrated database, run by somebody else than Bellwether.
final class DatabaseServer: Sendable {
    static let database = "shop"

    let cluster: EmbeddedCluster

    init() throws {
        cluster = try TestCluster.separate()
        var administrator = try self.administrator(of: "postgres")
        try administrator.execute(script: "CREATE ROLE \(TestCluster.owner) LOGIN CREATEROLE")
        try administrator.execute(script: "CREATE DATABASE \(Self.database) OWNER \(TestCluster.owner)")
        _ = try Bellwether(database: url).trusted("migrate")
    }

    deinit { TestCluster.remove(cluster) }

    /// For the owner of everything.
    var url: String { cluster.connectionURL(database: Self.database, user: TestCluster.owner) }

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
    func stop() throws { _ = try EmbeddedCluster.stop(dataDirectory: cluster.dataDirectory, force: true) }

    /// Starts it again.
    func start() throws { try cluster.ensureRunning() }
}
