import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Imports of files without end")
struct EndlessImportTests {
    private static let commands = [["sends", "import"], ["import", "fcm-export"]]

    /// Runs an import of what a shell command writes, in the shell's place, so that signals reach the import.
    private func start(_ command: [String], of writer: String, in database: TestDatabase) throws -> ChildProcess {
        var bellwether = try Bellwether(database)
        bellwether.runner = ["bash", "-c", #"writer=$0; exec "$@" < <(eval "$writer")"#, writer]
        return try bellwether.start(command + ["--app", "chat", "-"])
    }

    @Test("it says how far it is, keeps its memory, and says what it has read when it is stopped", arguments: commands)
    func endless(_ command: [String]) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp()
        // Empty lines count, and cost no database.
        let child = try start(command, of: "yes ''", in: database)
        #expect(eventually { child.messages.contains("lines (128 MiB) of standard input") })
        let status = try String(contentsOfFile: "/proc/\(child.id)/status", encoding: .utf8)
        let peak = try #require(
            status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first)
        #expect(try #require(Int(peak)) < 200 * 1024, "\(status)")
        child.signal(SIGINT)
        let ended = try child.wait()
        #expect(ended.status == 130 && ended.messages.contains("Stopped. Read "), "\(ended)")
    }

    @Test("a line without end is given up, and its number is said", arguments: commands)
    func lineWithoutEnd(_ command: [String]) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp()
        let ended = try start(command, of: "echo; echo; tr '\\0' 'x' < /dev/zero", in: database).wait()
        #expect(ended.status == 1 && ended.messages.contains("line 3 has no end within"), "\(ended)")
    }
}
