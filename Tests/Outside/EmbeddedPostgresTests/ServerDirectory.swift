import EmbeddedPostgres
import Foundation
import ServiceRuntime
import TestSupport

/// A directory of a test's own for a server, which is stopped at the end.
final class ServerDirectory: Sendable {
    private let directory = TemporaryDirectory()

    var path: String { directory.path }
    var data: String { path + "/data" }

    /// Runs a test and cleans up after it, whatever became of it.
    static func with(_ body: (ServerDirectory) async throws -> Void) async throws {
        let scratch = ServerDirectory()
        defer { _ = try? EmbeddedServer.stop(dataDirectory: scratch.data, force: true) }
        try await body(scratch)
    }
}

extension EmbeddedServer {
    /// A cluster that nobody needs to survive a power failure.
    static func throwaway(_ data: String, roles: [String] = []) throws -> EmbeddedServer {
        try use(
            dataDirectory: data,
            options: ServerOptions(
                superuser: "bellwether", roles: roles, settings: ServerOptions.throwawaySettings),
            log: .silent)
    }

    /// What the server answers to a query by the superuser.
    func ask(_ query: String, user: String? = nil) throws -> String {
        try Command.psql(connectionURL(database: "postgres", user: user), query).trusted()
    }
}

/// The process id in the server's lock file.
func postmaster(of data: String) -> pid_t? {
    (try? String(contentsOfFile: data + "/pg/data/postmaster.pid", encoding: .utf8))?
        .split(separator: "\n").first.flatMap { pid_t($0) }
}
