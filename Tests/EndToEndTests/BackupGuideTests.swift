import Foundation
import TestSupport
import Testing

@Suite("Backup and restore, as Docs/Operations.md says")
struct BackupGuideTests {
    private let scratch = TemporaryDirectory()

    /// The commands for the embedded database, as they stand there.
    private static func commands() throws -> String {
        let blocks = try DeploymentCheck.text(of: "Docs/Operations.md").components(separatedBy: "```sh\n").dropFirst()
        let recipes = blocks.compactMap { $0.components(separatedBy: "```").first }
            .filter { $0.contains("pg_restore") && $0.contains("bellwether database-url") }
        return try #require(recipes.count == 1 ? recipes[0] : nil)
    }

    @Test("an embedded database goes by its dump into a new data directory, and is proved there")
    func embedded() throws {
        let named = "/var/lib/bellwether-restored"
        let commands = try Self.commands()
        #expect(commands.contains(named))
        let (old, new) = (Bellwether(data: scratch("old")), Bellwether(data: scratch("new")))
        defer { for bellwether in [old, new] { _ = try? bellwether.run("database", "stop", "--force") } }
        let key = String(try old.trusted("app", "create", "shop").dropLast())
        let service = try old.serve()
        #expect(try service.client().post(Wire.envelope(Wire.event(), Wire.event()), key: key).results.accepted == 2)
        #expect(try service.stop() == 0)

        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let restored = try ChildProcess.run(
            ["sh", "-euc", "cd '\(scratch.path)'\n" + commands.replacing(named, with: scratch("new"))],
            environment: [
                "PATH": (Bellwether.path as NSString).deletingLastPathComponent + ":" + path,
                "BELLWETHER_DATA": scratch("old"),
            ], within: 180)
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(
            (restored.output + restored.messages).contains("Proved: every cell is what the log says."), "\(restored)")
        #expect(new.postmaster == nil)
        #expect(try new.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "2\n")
        #expect(try new.trusted("app", "list").contains("shop"))
    }
}
