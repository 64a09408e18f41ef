import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

@Suite("After a crash")
struct CrashTests {
    @Test("a killed server is started again, even while its busy child still holds the memory")
    func killedServerWithBusyChild() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            _ = try cluster.ask("CREATE TABLE kept AS SELECT 42 AS answer")
            _ = try cluster.ask("CHECKPOINT")
            // A query that never waits does not notice that its parent is gone.
            let url = cluster.connectionURL(database: "postgres")
            let (busy, _) = try Command.start(
                [try Command.psqlPath(), "-XAtq", "-c", "SELECT count(*) FROM generate_series(1, 1e11)", url])
            defer {
                kill(busy.processIdentifier, SIGKILL)
                busy.waitUntilExit()
            }
            let isBusy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%1e11%'"
            #expect(eventually { (try? cluster.ask(isBusy)) == "2" })
            let server = try #require(postmaster(of: scratch.data))
            kill(server, SIGKILL)
            #expect(eventually { (try? EmbeddedServer.isRunning(dataDirectory: scratch.data)) == false })

            try cluster.ensureRunning()
            #expect(try cluster.ask("SELECT answer FROM kept") == "42")
            #expect(postmaster(of: scratch.data) != server)
        }
    }

    @Test("a server orphaned by a kill is adopted by the next user and stopped by the last")
    func orphanAdoption() async throws {
        try await ServerDirectory.with { scratch in
            await #expect(processExitsWith: .signal(SIGKILL)) { [data = scratch.data as String] in
                let cluster = try EmbeddedServer.throwaway(data)
                #expect(try cluster.ask("SELECT 1") == "1")
                kill(getpid(), SIGKILL)
            }
            let server = try #require(postmaster(of: scratch.data))
            #expect(try EmbeddedServer.isRunning(dataDirectory: scratch.data))
            let heir = try EmbeddedServer.throwaway(scratch.data)
            #expect(postmaster(of: scratch.data) == server)
            #expect(try heir.ask("SELECT 1") == "1")
            heir.release()
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }

    @Test("a cluster whose making was killed halfway is made anew, even while the orphaned initdb still writes")
    func halfMade() async throws {
        try await ServerDirectory.with { scratch in
            await #expect(processExitsWith: .signal(SIGKILL)) { [data = scratch.data as String] in
                Thread.detachNewThread {
                    let begun = eventually {
                        let names = (try? FileManager.default.contentsOfDirectory(atPath: data + "/pg")) ?? []
                        return names.contains {
                            $0.hasPrefix("data.new.") && access("\(data)/pg/\($0)/PG_VERSION", F_OK) == 0
                        }
                    }
                    if begun { kill(getpid(), SIGKILL) }
                }
                _ = try EmbeddedServer.throwaway(data)
            }
            #expect(access(scratch.data + "/pg/data", F_OK) != 0)
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SELECT 1") == "1")
        }
    }

    @Test("the id of a dead server that another process has got by now does not keep the cluster down")
    func reusedProcessID() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            let (stranger, _) = try Command.start(
                ["/usr/bin/setpriv", "--reuid=postgres", "--clear-groups", "/usr/bin/sleep", "60"])
            defer {
                kill(stranger.processIdentifier, SIGKILL)
                stranger.waitUntilExit()
            }
            let lines = "\(stranger.processIdentifier)\n\(scratch.data)/pg/data\n1700000000\n5432\n/tmp\n\n1 2\nready\n"
            try lines.write(toFile: scratch.data + "/pg/data/postmaster.pid", atomically: false, encoding: .utf8)
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SELECT 1") == "1")
            #expect(stranger.isRunning)
        }
    }

    @Test("an empty lock file, as a crash of the machine leaves it, is cleared away")
    func emptyLockFile() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            try "".write(toFile: scratch.data + "/pg/data/postmaster.pid", atomically: false, encoding: .utf8)
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SELECT 1") == "1")
        }
    }

    @Test("a copy made of a running cluster starts a server of its own and leaves the original alone")
    func copyOfRunningCluster() async throws {
        try await ServerDirectory.with { scratch in
            let original = try EmbeddedServer.throwaway(scratch.data)
            defer { original.release() }
            _ = try original.ask("CREATE TABLE kept AS SELECT 42 AS answer")
            _ = try original.ask("CHECKPOINT")
            let copied = scratch.path + "/copy"
            _ = try Command.run(["/usr/bin/cp", "-a", scratch.data, copied]).trusted()
            #expect(try !EmbeddedServer.isRunning(dataDirectory: copied))
            let copy = try EmbeddedServer.throwaway(copied)
            #expect(postmaster(of: copied) != postmaster(of: scratch.data))
            _ = try copy.ask("UPDATE kept SET answer = 43")
            copy.release()
            #expect(try original.ask("SELECT answer FROM kept") == "42")
        }
    }

    @Test("a server whose socket was swept away is restarted")
    func lostSocket() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            unlink(scratch.data + "/pg/socket/.s.PGSQL.5432")
            try cluster.ensureRunning()
            #expect(try cluster.ask("SELECT 1") == "1")
        }
    }

    @Test("a server that is just stopping is waited for and started again")
    func stoppingServer() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            let server = try #require(postmaster(of: scratch.data))
            kill(server, SIGINT)
            #expect(
                eventually {
                    let lock = try? String(contentsOfFile: scratch.data + "/pg/data/postmaster.pid", encoding: .utf8)
                    return lock?.contains("stopping") != false
                })
            try cluster.ensureRunning()
            #expect(try cluster.ask("SELECT 1") == "1")
            #expect(postmaster(of: scratch.data) != server)
        }
    }

    @Test("no second server is started while one answers whose process is out of sight")
    func hiddenServer() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            let path = scratch.data + "/pg/socket/.s.PGSQL.5432"
            let hidden = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(hidden) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(hidden, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0 && listen(hidden, 5) == 0)
            #expect(throws: EmbeddedPostgresError.hiddenServer(directory: scratch.data)) {
                try EmbeddedServer.throwaway(scratch.data)
            }
        }
    }

    @Test("a server that cannot start is reported with the end of its log")
    func damagedData() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            rename(scratch.data + "/pg/data/pg_wal", scratch.data + "/pg/data/elsewhere")
            let error = #expect(throws: EmbeddedPostgresError.self) { try EmbeddedServer.throwaway(scratch.data) }
            #expect(error?.description.contains("pg_wal") == true)
        }
    }

    @Test("settings that the server refuses are reported with what the server says about them")
    func brokenSettings() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            let custom = scratch.data + "/pg/data/custom.conf"
            try "max_connections = many\n".write(toFile: custom, atomically: false, encoding: .utf8)
            let error = #expect(throws: EmbeddedPostgresError.self) { try EmbeddedServer.throwaway(scratch.data) }
            #expect(error?.description.contains(#"invalid value for parameter "max_connections": "many""#) == true)
            try "".write(toFile: custom, atomically: false, encoding: .utf8)
            try EmbeddedServer.throwaway(scratch.data).release()
        }
    }
}
