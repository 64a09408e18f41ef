import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport

/// A database that asks for a password and writes down everything that it is told, as an operator might have set it up.
final class GuardedDatabase {
    static let owner = "bellwether_owner"
    static let password = "sesame-Gu4rd/d@p?a:ss=%w"
    private static let name = "guarded"

    let cluster: EmbeddedServer
    private let files = TemporaryDirectory()

    init() throws {
        try "local all postgres peer map=embedded\nlocal all all scram-sha-256\n".write(
            toFile: files("access"), atomically: false, encoding: .utf8)
        chmod(files("access"), 0o644)
        cluster = try TestPostgres.separate(
            settings: ServerOptions.throwawaySettings.merging(
                [
                    "hba_file": files("access"), "log_statement": "all", "log_connections": "on",
                    "log_disconnections": "on", "log_min_error_statement": "error", "log_error_verbosity": "verbose",
                    "log_min_duration_statement": "0",
                ], uniquingKeysWith: { $1 }))
        var administrator = try self.administrator()
        // Not even the test's own statements may put it into the log.
        try administrator.execute(script: "SET log_statement = none; SET log_min_duration_statement = -1")
        try administrator.execute(
            script: "CREATE ROLE \(Self.owner) LOGIN CREATEROLE PASSWORD '\(Self.password)'")
        try administrator.execute(script: "CREATE DATABASE \(Self.name) OWNER \(Self.owner)")
    }

    deinit { TestPostgres.remove(cluster) }

    func administrator() throws -> Connection { try Connection(url: cluster.connectionURL(database: "postgres")) }

    var socketDirectory: String { cluster.dataDirectory + "/pg/socket" }

    /// All the ways in which libpq can be told a password, the URL and what is in the environment beside it.
    func ways(password: String = GuardedDatabase.password, in passwordFile: String) -> [[String: String]] {
        let escaped = password.utf8.map { "%" + String(Int($0) | 0x100, radix: 16).suffix(2) }.joined()
        let plain = cluster.connectionURL(database: Self.name, user: Self.owner)
        let pairs = "host=\(socketDirectory) port=5432 dbname=\(Self.name) user=\(Self.owner)"
        return [
            ["BELLWETHER_DATABASE_URL": plain.replacing("\(Self.owner)@", with: "\(Self.owner):\(escaped)@")],
            ["BELLWETHER_DATABASE_URL": "\(plain)&password=\(escaped)"],
            ["BELLWETHER_DATABASE_URL": "\(pairs) password='\(password)'"],
            ["BELLWETHER_DATABASE_URL": plain, "PGPASSWORD": password],
            ["BELLWETHER_DATABASE_URL": plain, "PGPASSFILE": passwordFile],
        ]
    }

    /// All that the server has written.
    var log: String {
        let directory = cluster.dataDirectory + "/pg/log"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.map { name in
            String(decoding: FileManager.default.contents(atPath: "\(directory)/\(name)") ?? Data(), as: UTF8.self)
        }.joined()
    }
}
