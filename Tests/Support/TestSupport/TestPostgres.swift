internal import Accounts
package import EmbeddedPostgres
internal import Foundation
internal import Glibc
internal import Migrations
internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// The PostgreSQL of this test process: made when the first test asks for it, gone when the process ends.
///
/// It is quick and forgets on a power failure, so a test of durability makes one of its own.
package enum TestPostgres {
    /// Who owns the databases. No superuser: what it cannot do, an installation must not need.
    package static let owner = "bellwether_owner"
    /// A login without any right of ours.
    package static let stranger = "bellwether_stranger"

    /// A login that reads as analysts do.
    package static let analyst = AnalystLogin.embedded

    /// A database at the version of this program, from which the tests' own are copied.
    static let template = "template_bellwether"

    /// The same with the usual number of shards; made when the first test asks for it.
    static let usualTemplate = Result {
        try makeTemplate("template_usual", shards: Shard.usual, in: shared())
        return "template_usual"
    }

    private static let directoryPrefix = "bellwether-tests-"

    private static let running = Result { try start() }

    /// The cluster itself.
    package static func shared() throws -> EmbeddedServer { try running.get() }

    /// A libpq URL.
    package static func url(database: String, user: String) throws -> String {
        try shared().connectionURL(database: database, user: user)
    }

    /// A connection of the superuser.
    static func administrator(of database: String = "postgres") throws -> Connection {
        var connection = try Connection(url: try shared().connectionURL(database: database))
        connection.deadline = .after(seconds: 120)
        return connection
    }

    /// Lends a connection of the superuser to what leaves nothing behind in it.
    static func administering(_ work: (inout Connection) throws -> Void) throws {
        try LentConnection.lend("postgres superuser", within: 120, try administrator(), to: work)
    }

    /// A cluster with nothing in it.
    package static let empty = DataTemplate<Void> { try use($0).release() }

    /// A cluster of a test's own, for what must not happen to the shared one: a copy of `template`. Whoever asks
    /// removes it. `logins` may connect beside those of the shared one.
    package static func separate(
        _ template: DataTemplate<Void> = empty, settings: [String: String] = ServerOptions.throwawaySettings,
        logins: [String] = []
    ) throws -> EmbeddedServer {
        let name = "\(directoryPrefix)\(getpid())-\(UInt32.random(in: .min ... .max))"
        let directory = "\(TemporaryDirectory.quickHome)/\(name)"
        try template.copy(to: directory)
        return try use(directory, settings: settings, logins: logins)
    }

    /// The cluster of a directory, a new one if there is none.
    package static func use(
        _ directory: String, settings: [String: String] = ServerOptions.throwawaySettings, logins: [String] = []
    ) throws -> EmbeddedServer {
        try EmbeddedServer.use(
            dataDirectory: directory,
            options: ServerOptions(
                superuser: "postgres", roles: [owner, stranger, analyst] + logins, settings: settings),
            log: .silent)
    }

    /// Stops a cluster and takes its files away.
    package static func remove(_ cluster: EmbeddedServer) {
        cluster.release()
        try? FileManager.default.removeItem(atPath: cluster.dataDirectory)
    }

    private static func start() throws -> EmbeddedServer {
        sweep()
        // Tests run side by side and each may have a handful of connections; the maintenance that a short life does
        // not need only disturbs the clock.
        let cluster = try separate(
            settings: ServerOptions.throwawaySettings.merging(
                ["max_connections": "200", "autovacuum": "off"], uniquingKeysWith: { $1 }))
        // The test runner leaves by exit(3) and destroys no static: only this handler is sure to run.
        atexit { if let cluster = try? TestPostgres.shared() { TestPostgres.remove(cluster) } }
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        try administrator.execute(
            script: "CREATE ROLE \(owner) LOGIN CREATEROLE; CREATE ROLE \(stranger) LOGIN")
        try makeTemplate(template, shards: TestDatabase.shards, in: cluster)
        try AnalystLogin.make(analyst, on: &administrator)
        return cluster
    }

    private static func makeTemplate(_ name: String, shards: Int16, in cluster: EmbeddedServer) throws {
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        try administrator.execute(script: "CREATE DATABASE \(name) OWNER \(owner)")
        var connection = try LogSession.open(
            url: cluster.connectionURL(database: name, user: owner), role: nil, purpose: "tests", log: .silent)
        _ = try Migrations.run(shards: shards, on: &connection, log: .silent)
    }

    /// Takes away what test processes that were killed have left running.
    private static func sweep() {
        for home in TemporaryDirectory.homes {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
            where name.hasPrefix(directoryPrefix) {
                let process = name.dropFirst(directoryPrefix.count).prefix { $0.isNumber }
                guard let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH else { continue }
                _ = try? EmbeddedServer.stop(dataDirectory: "\(home)/\(name)")
                try? FileManager.default.removeItem(atPath: "\(home)/\(name)")
            }
        }
    }
}
