import EmbeddedPostgres
import Foundation
import Testing

@Suite("As an ordinary user")
struct OrdinaryUserTests {
    @Test("everything runs as that user, and root refuses to run it")
    func ownCluster() async throws {
        try await ServerDirectory.with { scratch in
            chmod(scratch.path, 0o777)
            await #expect(processExitsWith: .success) { [data = scratch.data as String] in
                try become("nobody")
                #expect(getuid() != 0 && geteuid() != 0)
                let cluster = try EmbeddedServer.throwaway(data)
                #expect(try cluster.ask("SELECT current_user") == "bellwether")
                let server = try #require(postmaster(of: data))
                let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(server)")[.ownerAccountName]
                #expect(owner as? String == "nobody")
                let second = try EmbeddedServer.throwaway(data)
                cluster.release()
                #expect(try second.ask("SELECT 1") == "1")
                second.release()
                #expect(try !EmbeddedServer.isRunning(dataDirectory: data))
            }
            // What another user has set up root does not start, nor even look at.
            let refusal = EmbeddedPostgresError.foreignOwner(path: scratch.data, owner: "nobody")
            #expect(throws: refusal) { try EmbeddedServer.throwaway(scratch.data) }
            #expect(throws: refusal) { try EmbeddedServer.isRunning(dataDirectory: scratch.data) }
            #expect(throws: refusal) { try EmbeddedServer.stop(dataDirectory: scratch.data) }
            // And nothing of root's stands in the owner's way.
            await #expect(processExitsWith: .success) { [data = scratch.data as String] in
                try become("nobody")
                let cluster = try EmbeddedServer.throwaway(data)
                #expect(try cluster.ask("SELECT 1") == "1")
                try cluster.keepRunning()
                cluster.release()
                #expect(try EmbeddedServer.stop(dataDirectory: data))
            }
        }
    }

    @Test("a cluster of somebody else's is refused by its owner's name")
    func foreignCluster() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            await #expect(processExitsWith: .success) { [data = scratch.data as String] in
                try become("nobody")
                let refusal = EmbeddedPostgresError.foreignOwner(path: data, owner: "postgres")
                #expect(throws: refusal) { try EmbeddedServer.throwaway(data) }
                #expect(throws: refusal) { try EmbeddedServer.isRunning(dataDirectory: data) }
                #expect(throws: refusal) { try EmbeddedServer.stop(dataDirectory: data) }
            }
        }
    }

    @Test("a deep directory's socket lies in the session's runtime directory, and a process without one finds it")
    func runtimeDirectory() async throws {
        try await ServerDirectory.with { scratch in
            chmod(scratch.path, 0o777)
            await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                try become("nobody")
                mkdir(path + "/run", 0o700)
                setenv("XDG_RUNTIME_DIR", path + "/run", 1)
                let deep = path + "/" + String(repeating: "deep/", count: 30)
                let cluster = try EmbeddedServer.throwaway(deep)
                #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/run").count == 1)
                unsetenv("XDG_RUNTIME_DIR")
                let second = try EmbeddedServer.throwaway(deep)
                #expect(second.connectionURL(database: "x") == cluster.connectionURL(database: "x"))
                #expect(try second.ask("SELECT 1") == "1")
                second.release()
                cluster.release()
            }
        }
    }
}

private struct CannotBecome: Error { let user: String }

/// Gives up being root for good. Only for a process of the test's own.
private func become(_ user: String) throws {
    guard let entry = getpwnam(user) else { throw CannotBecome(user: user) }
    let (id, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(id) == 0 else { throw CannotBecome(user: user) }
}
