import EmbeddedPostgres
import Foundation
import ServiceRuntime
import Testing

@testable import struct EmbeddedPostgres.MachineSize
@testable import struct EmbeddedPostgres.Postmaster
@testable import struct EmbeddedPostgres.ServerSettings

@Suite("Settings")
struct SettingsTests {
    @Test("what is committed is durable, and texts sort the same everywhere")
    func durable() async throws {
        try await ServerDirectory.with { scratch in
            let cluster = try EmbeddedServer.use(
                dataDirectory: scratch.data, options: ServerOptions(superuser: "bellwether"), log: .silent)
            defer { cluster.release() }
            let expected = [
                "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "on",
                "server_encoding": "UTF8", "TimeZone": "UTC", "listen_addresses": "",
                "max_connections": "100", "checkpoint_timeout": "15min", "autovacuum": "on",
                "logging_collector": "on", "log_truncate_on_rotation": "on", "log_rotation_age": "1d",
                "log_rotation_size": "10MB",
            ]
            for (name, value) in expected { #expect(try cluster.ask("SHOW \(name)") == value, "\(name)") }
            #expect(try cluster.ask("SELECT datcollate FROM pg_database WHERE datname = current_database()") == "C")
            #expect(try cluster.ask("SELECT count(*) FROM pg_hba_file_rules") == "2")
            #expect(try cluster.ask("SELECT count(*) FROM pg_file_settings WHERE error IS NOT NULL") == "0")
        }
    }

    @Test("our file is written anew at each start, the user's own wins and is left alone")
    func userFile() async throws {
        try await ServerDirectory.with { scratch in
            try EmbeddedServer.throwaway(scratch.data).release()
            let data = scratch.data + "/pg/data"
            let own = "work_mem = '7MB' # mine\n"
            try own.write(toFile: data + "/custom.conf", atomically: false, encoding: .utf8)
            try "max_connections = 7\n".write(toFile: data + "/embedded.conf", atomically: false, encoding: .utf8)
            let cluster = try EmbeddedServer.throwaway(scratch.data)
            defer { cluster.release() }
            #expect(try cluster.ask("SHOW work_mem") == "7MB")
            #expect(try cluster.ask("SHOW max_connections") == "100")
            #expect(try cluster.ask("SHOW fsync") == "off")
            #expect(try String(contentsOfFile: data + "/custom.conf", encoding: .utf8) == own)
        }
    }

    struct Share: Sendable {
        let memory, disk: Int
        let buffers, log: String
    }

    @Test(
        "memory and disk are shared out by their size, within bounds",
        arguments: [
            Share(memory: 64 << 20, disk: 1 << 30, buffers: "32MB", log: "256MB"),
            Share(memory: 512 << 20, disk: 4 << 30, buffers: "64MB", log: "409MB"),
            Share(memory: 8 << 30, disk: 100 << 30, buffers: "1024MB", log: "4096MB"),
            Share(memory: 1 << 40, disk: 1 << 45, buffers: "2048MB", log: "4096MB"),
        ])
    func sizes(share: Share) {
        let text = ServerSettings(
            size: MachineSize(memory: share.memory, freeDisk: share.disk, sharedMemoryDisk: 64 << 20),
            socketDirectory: "/tmp/a'b",
            hasLZ4: false, version: 15, overrides: ["x": "it's \\"]
        ).generatedText
        #expect(text.contains("\nshared_buffers = '\(share.buffers)'\n"))
        #expect(text.contains("\nmax_wal_size = '\(share.log)'\n"))
        #expect(text.contains("\ndynamic_shared_memory_type = 'mmap'\n"))
        #expect(text.contains("\nunix_socket_directories = '\"/tmp/a''b\"'\n"))
        #expect(text.hasSuffix("\nx = 'it''s \\\\'\n"))
    }

    @Test("a server's lock file is read at every stage of its writing")
    func lockFile() throws {
        #expect(Postmaster(lockFile: "") == nil)
        #expect(Postmaster(lockFile: "0\n") == nil)
        let young = try #require(Postmaster(lockFile: "42\n/data\n1700000000\n5432\n"))
        #expect(young.process == 42 && young.phase == .starting)
        let lines = "42\n/data\n1700000000\n5433\n/run/x y\n\n  1 2\n"
        let ready = try #require(Postmaster(lockFile: lines + "ready   \n"))
        #expect(ready.phase == .ready && ready.port == 5433 && ready.socketDirectory == "/run/x y")
        #expect(Postmaster(lockFile: lines + "stopping\n")?.phase == .stopping)
        #expect(Postmaster(lockFile: lines + "starting\n")?.phase == .starting)
    }
}
