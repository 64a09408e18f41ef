import EmbeddedPostgres
import Foundation
import ServiceRuntime

/// A directory of a test's own under /tmp that any user may pass through; at the end the server in it is stopped and
/// all of it removed.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = "/tmp/cluster-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var data: String { path + "/data" }

    /// Runs a test and cleans up after it, whatever became of it.
    static func with(_ body: (Scratch) async throws -> Void) async throws {
        let scratch = try Scratch()
        defer { _ = try? EmbeddedCluster.stop(dataDirectory: scratch.data, force: true) }
        try await body(scratch)
    }
}

extension EmbeddedCluster {
    /// A cluster that nobody needs to survive a power failure.
    static func throwaway(_ data: String, roles: [String] = []) throws -> EmbeddedCluster {
        try use(
            dataDirectory: data,
            options: ClusterOptions(
                superuser: "bellwether", roles: roles, settings: ClusterOptions.throwawaySettings),
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

/// Looks again until it is so, or ten seconds are over.
func eventually(_ condition: () -> Bool) -> Bool {
    let deadline = Deadline.after(seconds: 60)
    while !condition() {
        if deadline.hasPassed { return false }
        poll(nil, 0, 5)
    }
    return true
}
