import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

@Suite("Who may connect")
struct AccessTests {
    @Test("another user of the machine cannot reach the socket, nor log in if it could")
    func strangers() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            let url = cluster.connectionURL(database: "postgres")
            let outside = try Command.psql(url, "SELECT 1", as: "nobody")
            #expect(outside.status != 0)
            #expect(outside.output.contains("Permission denied"))

            // Even with every door of the file system open, the server asks who it is.
            let pg = scratch.data + "/pg"
            for path in [scratch.data, pg, pg + "/socket"] { chmod(path, 0o755) }
            chmod(pg + "/socket/.s.PGSQL.5432", 0o777)
            let inside = try Command.psql(url, "SELECT 1", as: "nobody")
            #expect(inside.status != 0)
            #expect(inside.output.contains("Peer authentication failed"))
        }
    }

    @Test("it has no door to the network, and no file, log or directory of it is anybody else's to read")
    func closed() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SHOW listen_addresses") == "")
            let server = try #require(postmaster(of: scratch.data))
            let sockets = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server)/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(server)/fd/\($0)")
            }.filter { $0.hasPrefix("socket:[") }.map { String($0.dropFirst(8).dropLast()) }
            #expect(!sockets.isEmpty)
            for family in ["tcp", "tcp6", "udp", "udp6"] {
                guard let table = try? String(contentsOfFile: "/proc/\(server)/net/\(family)", encoding: .utf8) else {
                    continue
                }
                let nodes = table.split(separator: "\n").dropFirst().map { String($0.split(separator: " ")[9]) }
                #expect(Set(nodes).isDisjoint(with: sockets), "\(family)")
            }

            let files = try #require(FileManager.default.enumerator(atPath: scratch.data))
            var seen = 0
            for case let name as String in files {
                // The server makes and removes files meanwhile.
                var status = stat()
                guard lstat(scratch.data + "/" + name, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
                    continue
                }
                #expect(status.st_mode & 0o077 == 0, "\(name) \(String(status.st_mode, radix: 8))")
                seen += 1
            }
            #expect(seen > 500)
            let look = try Command.run(["/usr/bin/find", scratch.data, "-mindepth", "1"], as: "nobody")
            #expect(look.status != 0 && look.output.split(separator: "\n").count == 1, "\(look.output)")
        }
    }

    @Test("the server's user and root may log in as the superuser and as the named roles, and as no other")
    func roles() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data, roles: ["reader"])
            defer { cluster.release() }
            _ = try cluster.ask("CREATE ROLE reader LOGIN; CREATE ROLE late LOGIN")
            #expect(try cluster.ask("SELECT current_user", user: "reader") == "reader")
            let url = cluster.connectionURL(database: "postgres")
            #expect(try Command.psql(url, "SELECT 1", as: "postgres").trusted() == "1")
            #expect(throws: Command.Failure.self) { try cluster.ask("SELECT 1", user: "late") }

            // A later use of the running server may name more.
            let second = try EmbeddedServer.throwaway(scratch.data, roles: ["reader", "late"])
            defer { second.release() }
            #expect(eventually { (try? cluster.ask("SELECT current_user", user: "late")) == "late" })
        }
    }

    @Test("the server gets nothing of its starter's: no signal mask, open file, terminal, or PG variable")
    func nothingInherited() async throws {
        try await ServerDirectory.with { scratch in
            await #expect(processExitsWith: .success) { [data = scratch.data as String] in
                for name in ["PGDATA", "PGHOST", "PGPORT", "PGUSER", "PGOPTIONS", "PG_COLOR", "SECRET_OF_OURS"] {
                    setenv(name, "/nonsense", 1)
                }
                setenv("LC_ALL", "tlh_QO.UTF-8", 1)
                var signals = sigset_t()
                sigfillset(&signals)
                sigdelset(&signals, SIGCHLD)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                let stray = open("/etc/hostname", O_RDONLY)
                #expect(stray > 2)

                let cluster = try EmbeddedServer.throwaway(data)
                defer { cluster.release() }
                let server = try #require(postmaster(of: data))
                // It blocks signals itself while it deals with one; from 16 on it takes SIGURG from a file, and blocks
                // it.
                let unmasked = eventually {
                    let status = try? String(contentsOfFile: "/proc/\(server)/status", encoding: .utf8)
                    return status?.contains(/SigBlk:\t0000000000(0|4)00000/) ?? false
                }
                #expect(unmasked)
                #expect(getsid(server) == server)
                let variables = try String(contentsOfFile: "/proc/\(server)/environ", encoding: .utf8)
                #expect(!variables.contains("nonsense"))
                // What it has just closed has no destination any more.
                let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server)/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(server)/fd/\($0)")
                }
                #expect(files.contains("/dev/null"))
                #expect(!files.contains { $0.contains("hostname") || $0.hasSuffix(".lock") })
            }
        }
    }
}
