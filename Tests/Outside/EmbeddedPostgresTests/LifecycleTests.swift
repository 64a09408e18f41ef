import EmbeddedPostgres
import Foundation
import Testing

@Suite("The life of a cluster")
struct LifecycleTests {
    @Test("the first use makes the cluster and starts it, and the last release stops it")
    func firstUseAndLastRelease() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            #expect(try cluster.ask("SELECT current_user || ' ' || session_user") == "bellwether bellwether")
            #expect(try EmbeddedServer.isRunning(dataDirectory: scratch.data))
            cluster.release()
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
            #expect(postmaster(of: scratch.data) == nil)
            cluster.release()
        }
    }

    @Test("data outlive the server")
    func dataOutliveTheServer() async throws {
        try await ServerDirectory.with { scratch in
            let first = try EmbeddedServer.throwaway(scratch.data)
            _ = try first.ask("CREATE TABLE kept AS SELECT 42 AS answer")
            first.release()
            let second = try EmbeddedServer.throwaway(scratch.data)
            defer { second.release() }
            #expect(try second.ask("SELECT answer FROM kept") == "42")
        }
    }

    @Test("old files of the server's log are removed, and looking for them starts no program")
    func oldLogs() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try !cluster.removeOldLogs())
            let log = scratch.data + "/pg/log"
            for day in 10..<30 {
                try "old".write(toFile: "\(log)/server-2020-01-\(day)-000000.log", atomically: false, encoding: .utf8)
            }
            #expect(try cluster.removeOldLogs())
            let left = try FileManager.default.contentsOfDirectory(atPath: log).filter { $0.hasPrefix("server-") }
            #expect(left.count == 10 && !left.contains("server-2020-01-10-000000.log"), "\(left)")
            #expect(try !cluster.removeOldLogs())
        }
    }

    @Test("a second use shares the server, and it runs until both are released")
    func sharing() async throws {
        try await ServerDirectory.with { scratch in
            let first = try EmbeddedServer.throwaway(scratch.data)
            let server = postmaster(of: scratch.data)
            let second = try EmbeddedServer.throwaway(scratch.data)
            #expect(postmaster(of: scratch.data) == server)
            #expect(first.connectionURL(database: "a") == second.connectionURL(database: "a"))
            first.release()
            #expect(try second.ask("SELECT 1") == "1")
            second.release()
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }

    @Test("a cluster that nobody releases stops with its last reference")
    func droppedReference() async throws {
        try await ServerDirectory.with { scratch in
            _ = try EmbeddedServer.throwaway(scratch.data)
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }

    @Test("a cluster asked to keep running survives the last release, until it is stopped")
    func keptRunning() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            let url = cluster.connectionURL(database: "postgres")
            try cluster.keepRunning()
            cluster.release()
            #expect(try Command.psql(url, "SELECT 1").trusted() == "1")
            let visitor = try EmbeddedServer.throwaway(scratch.data)
            visitor.release()
            #expect(try EmbeddedServer.isRunning(dataDirectory: scratch.data))

            #expect(try EmbeddedServer.stop(dataDirectory: scratch.data))
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
            #expect(try !EmbeddedServer.stop(dataDirectory: scratch.data))

            // The wish died with the server it was made for.
            let later = try EmbeddedServer.throwaway(scratch.data)
            later.release()
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }

    @Test("stopping a cluster in use is refused with the users' process ids, unless forced")
    func stoppingWhileInUse() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            let refusal = #expect(throws: EmbeddedPostgresError.self) {
                try EmbeddedServer.stop(dataDirectory: scratch.data)
            }
            #expect(refusal == .inUse(directory: scratch.data, processes: [getpid()]))
            #expect(try cluster.ask("SELECT 1") == "1")

            #expect(try EmbeddedServer.stop(dataDirectory: scratch.data, force: true))
            #expect(throws: Command.Failure.self) { try cluster.ask("SELECT 1") }
            try cluster.ensureRunning()
            #expect(try cluster.ask("SELECT 1") == "1")
        }
    }

    @Test("a directory without a cluster neither runs nor can be stopped, and stays as it is")
    func nothingThere() async throws {
        try await ServerDirectory.with { scratch throws in
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
            #expect(try !EmbeddedServer.stop(dataDirectory: scratch.data))
            #expect(try !EmbeddedServer.stop(dataDirectory: scratch.path))
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        }
    }
}
