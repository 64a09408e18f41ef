import EmbeddedPostgres
import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("Several at once")
struct ConcurrencyTests {
    @Test("two processes that start at once on a fresh directory share one cluster, and the last one stops it")
    func twoProcesses() async throws {
        try await ServerDirectory.with { scratch in
            async let first: Void = { [data = scratch.data, path = scratch.path] in
                await #expect(processExitsWith: .success) { [data = data as String, path = path as String] in
                    try meet(data: data, mine: path + "/first", other: path + "/second")
                }
            }()
            async let second: Void = { [data = scratch.data, path = scratch.path] in
                await #expect(processExitsWith: .success) { [data = data as String, path = path as String] in
                    try meet(data: data, mine: path + "/second", other: path + "/first")
                }
            }()
            _ = await (first, second)
            let identities = try ["first", "second"].map {
                try String(contentsOfFile: "\(scratch.path)/\($0)", encoding: .utf8)
            }
            #expect(identities[0] == identities[1])
            #expect(!identities[0].isEmpty)
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }

    @Test("who cannot wait for another's starting or stopping hears that time ran out")
    func impatience() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            let other = open(scratch.data + "/pg/transition.lock", O_RDONLY)
            defer { close(other) }
            #expect(flock(other, LOCK_EX) == 0)
            let error = #expect(throws: EmbeddedPostgresError.self) {
                try EmbeddedServer.use(dataDirectory: scratch.data, log: .silent, deadline: .after(seconds: 0.1))
            }
            guard case .timedOut? = error else {
                Issue.record("it says \(String(describing: error))")
                return
            }
        }
    }

    @Test("many threads that come and go always find a server that answers")
    func manyThreads() async throws {
        try await ServerDirectory.with { scratch in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<6 {
                    group.addTask { [data = scratch.data as String] in
                        let cluster = try EmbeddedServer.throwaway(data)
                        defer { cluster.release() }
                        return try cluster.ask("SELECT 1")
                    }
                }
                for try await answer in group { #expect(answer == "1") }
            }
            #expect(try !EmbeddedServer.isRunning(dataDirectory: scratch.data))
        }
    }
}

/// Uses the cluster, writes down which one and whose server it is, and stays until the other has done the same.
private func meet(data: String, mine: String, other: String) throws {
    let cluster = try EmbeddedServer.throwaway(data)
    let identity = try cluster.ask(
        "SELECT system_identifier || ' ' || pg_postmaster_start_time() FROM pg_control_system()")
    try identity.write(toFile: mine, atomically: true, encoding: .utf8)
    #expect(eventually { access(other, F_OK) == 0 })
    cluster.release()
}
