import Accounts
import TestSupport

/// The real service on a database of its own, and a second one whose database is away and whose metrics are elsewhere.
struct OpenAPIService {
    /// Where the checker finds them, and what opens them.
    struct Doors: Encodable {
        let socket: String
        let away: String
        let keys: [String: String]
        let embedded = OpenAPICheck.embedded
    }

    /// Lends both services, and stops them as an operator does; gives their exit codes.
    static func run(_ body: (Doors) throws -> Void) throws -> [Int32] {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let directory = TemporaryDirectory()
        let doors = Doors(socket: directory("door"), away: directory("away"), keys: try makeKeys(database))
        let service = try Bellwether(database).serve("--listen", doors.socket, "--connection-memory", "4194304")
        let away = try Bellwether(database: "postgresql:///none?host=\(directory.path)").serve(
            "--listen", doors.away, "--metrics-listen", directory("metrics"),
            waitsUntilReady: false)
        try body(doors)
        return [try service.stop(), try away.stop()]
    }

    /// A key of each sort. All are made before the service starts, so that none of them is news to it.
    private static func makeKeys(_ database: TestDatabase) throws -> [String: String] {
        let app = try database.makeApp("chat")
        let limited = try database.makeApp("limited")
        var connection = try database.connect()
        let server = try APIKeys.add(to: app.slug, kind: .server, name: nil, on: &connection)
        let revoked = try APIKeys.add(to: app.slug, kind: .write, name: "old", on: &connection)
        try APIKeys.revoke(name: "old", of: app.slug, on: &connection)
        try Apps.set(rateLimit: RateLimit(eventsPerSecond: 0.01, burst: 1), of: limited.slug, on: &connection)
        return [
            "write": app.secret, "limited": limited.secret, "server": server.secret, "revoked": revoked.secret,
        ]
    }
}
