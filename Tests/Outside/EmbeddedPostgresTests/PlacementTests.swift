import EmbeddedPostgres
import Foundation
import ServiceRuntime
import Testing

@Suite("Where a cluster can live")
struct PlacementTests {
    @Test("a directory too deep for a socket path works, by a short private directory that others find again")
    func deepDirectory() async throws {
        try await ServerDirectory.with { scratch in
            let deep =
                scratch.path + "/" + String(repeating: "deep/", count: 30) + #"data, 'quoted' "twice" $(id)`id`\"#
            let first = try EmbeddedServer.throwaway(deep)
            let second = try EmbeddedServer.throwaway(deep)
            #expect(try second.ask("SELECT 1") == "1")
            let socket = try first.ask("SHOW unix_socket_directories")
                .trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            #expect(socket.hasPrefix("/tmp/pg-"))
            var status = stat()
            #expect(lstat(socket, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            first.release()
            second.release()
            #expect(access(socket, F_OK) != 0)
        }
    }

    @Test("a short directory that somebody else has made first is refused")
    func squattedSocketDirectory() async throws {
        try await ServerDirectory.with { scratch in
            let deep = scratch.path + "/" + String(repeating: "deep/", count: 30) + "data"
            let cluster = try EmbeddedServer.throwaway(deep)
            let socket = try cluster.ask("SHOW unix_socket_directories")
                .trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            cluster.release()
            _ = try Command.run(["/bin/mkdir", socket], as: "nobody").trusted()
            defer { rmdir(socket) }
            let error = #expect(throws: EmbeddedPostgresError.self) { try EmbeddedServer.throwaway(deep) }
            #expect(error?.description.contains(socket) == true)
        }
    }

    @Test("a place that the server's user cannot enter is refused by the name of the first closed directory")
    func unreachable() async throws {
        try await ServerDirectory.with { scratch throws in
            let home = scratch.path + "/home"
            mkdir(home, 0o700)
            let error = #expect(throws: EmbeddedPostgresError.self) {
                try EmbeddedServer.throwaway(home + "/below/data")
            }
            #expect(error == .unreachable(path: home, user: "postgres"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
        }
    }

    @Test("an empty private directory of root's is given to the server's user")
    func emptyDirectoryOfRoot() async throws {
        try await ServerDirectory.with { scratch in
            mkdir(scratch.data, 0o700)
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SELECT 1") == "1")
        }
    }

    @Test("a link and the directory behind it are one cluster")
    func throughALink() async throws {
        try await ServerDirectory.with { scratch in
            let link = scratch.path + "/link"
            symlink(scratch.data, link)
            let direct = try EmbeddedServer.throwaway(scratch.data)
            let linked = try EmbeddedServer.throwaway(link)
            #expect(linked.dataDirectory == scratch.data)
            direct.release()
            #expect(try linked.ask("SELECT 1") == "1")
            linked.release()
        }
    }

    @Test("root's umask does not shut the server's user out of directories made on the way")
    func umask() async throws {
        try await ServerDirectory.with { scratch in
            await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                Foundation.umask(0o077)
                let cluster = try EmbeddedServer.throwaway(path + "/a/b/data")
                #expect(try cluster.ask("SELECT 1") == "1")
                cluster.release()
            }
        }
    }

    @Test("data of another major version name the version that is missing")
    func versionMismatch() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            try "9\n".write(toFile: scratch.data + "/pg/data/PG_VERSION", atomically: false, encoding: .utf8)
            let error = #expect(throws: EmbeddedPostgresError.self) { try EmbeddedServer.throwaway(scratch.data) }
            guard case .versionMismatch(_, "9", let installed) = error else {
                Issue.record("unexpected: \(String(describing: error))")
                return
            }
            #expect(!installed.isEmpty)
        }
    }

    @Test("a file in place of the directory is refused")
    func fileInTheWay() async throws {
        try await ServerDirectory.with { scratch in
            try "".write(toFile: scratch.data, atomically: false, encoding: .utf8)
            #expect(
                throws: EmbeddedPostgresError.unusableDirectory(
                    path: scratch.data, reason: "it is not a directory.")
            ) { try EmbeddedServer.throwaway(scratch.data) }
        }
    }

    @Test("BELLWETHER_POSTGRES_BIN alone decides where the binaries are")
    func binariesByEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            setenv("BELLWETHER_POSTGRES_BIN", "/usr/bin", 1)
            let error = #expect(throws: EmbeddedPostgresError.self) {
                try PostgresInstallation.all(deadline: .after(seconds: 60))
            }
            #expect(error == .unusableBinaries(directory: "/usr/bin", reason: "there is no initdb"))
        }
        let newest = try #require(try PostgresInstallation.all(deadline: .after(seconds: 60)).first)
        await #expect(processExitsWith: .success) { [directory = newest.binDirectory as String] in
            setenv("BELLWETHER_POSTGRES_BIN", directory, 1)
            setenv("PATH", "/nowhere", 1)
            let found = try PostgresInstallation.all(deadline: .after(seconds: 60))
            #expect(found.map(\.binDirectory) == [directory])
        }
    }

    @Test("where PostgreSQL is missing, nothing is made: root would give it to another user than later")
    func nothingMade() async throws {
        try await ServerDirectory.with { scratch in
            await #expect(processExitsWith: .success) { [data = scratch.data as String] in
                setenv("BELLWETHER_POSTGRES_BIN", "/usr/bin", 1)
                #expect(throws: EmbeddedPostgresError.self) { try EmbeddedServer.throwaway(data) }
                #expect(access(data, F_OK) != 0)
            }
        }
    }
}
