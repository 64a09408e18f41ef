import EmbeddedPostgres
import Foundation
import ProjectFolder
import ServiceRuntime
import TestSupport
import Testing

/// `make test-postgres` runs it: it needs a PostgreSQL that is newer than Debian's.
@Suite("An upgrade of PostgreSQL", .enabled(if: Versions.present != nil, "only one version of PostgreSQL is installed"))
struct PostgresUpgradeFaultTests {
    private let scratch = TemporaryDirectory()

    /// A data directory of the old version, with a shop that takes events for a while.
    private func oldShop() throws -> (old: Bellwether, load: Load, key: String) {
        var old = Bellwether(data: scratch("data"))
        old.runner = ["env", "BELLWETHER_POSTGRES_BIN=\(try #require(Versions.present).old)"]
        let key = String(try old.trusted("app", "create", "shop").dropLast())
        let service = try old.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed(50))
        load.stop()
        #expect(try service.stop() == 0)
        _ = try old.trusted("project", "--once")
        return (old, load, key)
    }

    /// All that others may have noted down: positions, events by position, funnels.
    private func facts(of bellwether: Bellwether) throws -> [String] {
        let status = try bellwether.trusted("status").split(separator: "\n")
            .filter { !$0.hasPrefix("database") && !$0.hasPrefix("event_") && !$0.hasPrefix("PARTITION") }
        return [
            status.joined(separator: "\n"), try bellwether.trusted("export", "--from", "0", "--format", "ndjson"),
            try bellwether.trusted("psql", "--", "-XAtc", "SELECT * FROM category_funnel ORDER BY 1, 2, 3"),
            try bellwether.trusted("psql", "--", "-XAtc", "SELECT * FROM batches ORDER BY 1"),
        ]
    }

    private func goOn(_ new: Bellwether, _ load: Load) throws {
        let service = try new.serve()
        load.turn(to: service)
        try Laws.check(load, url: try #require(new.url))
        #expect(try service.stop() == 0)
    }

    @Test("in place, by pg_upgrade: all is as it was, and the service goes on")
    func inPlace() throws {
        let (old, load, _) = try oldShop()
        let before = try facts(of: old)
        let new = Bellwether(data: scratch("data"))
        // Somebody uses it.
        let service = try old.serve()
        let busy = try new.run("database", "upgrade")
        #expect(busy.status == 1 && busy.messages.contains("is in use by"), "\(busy)")
        #expect(try service.stop() == 0)
        // Something is in the way.
        #expect(mkdir(scratch("data/pg/data.15"), 0o700) == 0)
        let blocked = try new.run("database", "upgrade")
        #expect(blocked.status == 1 && blocked.messages.contains("of an earlier upgrade"), "\(blocked)")
        #expect(rmdir(scratch("data/pg/data.15")) == 0)
        #expect(try facts(of: old) == before)

        let upgraded = try new.run("database", "upgrade", within: 300)
        #expect(upgraded.status == 0 && upgraded.messages.contains("was moved from PostgreSQL"), "\(upgraded)")
        let version = try String(contentsOfFile: scratch("data/pg/data/PG_VERSION"), encoding: .utf8)
        #expect(version != (try String(contentsOfFile: scratch("data/pg/data.15/PG_VERSION"), encoding: .utf8)))
        #expect(try facts(of: new) == before)
        #expect(try new.run("doctor").output.contains("FAIL") == false)
        #expect(try new.run("database", "upgrade").messages.contains("no newer PostgreSQL"))
        try goOn(new, load)

        // Killed between the two renames, the next command does the second.
        let data = scratch("data/pg/data")
        #expect(try ChildProcess.run(["mv", data, data + ".upgraded"]).status == 0)
        #expect(try new.run("status").status == 0)
        #expect(try String(contentsOfFile: data + "/PG_VERSION", encoding: .utf8) == version)
    }

    @Test("by dump and restore, as Docs/Operations.md says: all is as it was, and the service goes on")
    func byDump() throws {
        let (old, load, _) = try oldShop()
        let before = try facts(of: old)
        let guide = try ProjectFolder.text(of: "Docs/Operations.md")
        let blocks = guide.components(separatedBy: "```sh\n").compactMap { $0.components(separatedBy: "```").first }
        let recipe = try #require(blocks.first { $0.contains("--use-list") })
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let programs = try #require(Versions.present).new
        let named = "/var/lib/bellwether-restored"
        #expect(recipe.contains(named))
        let restored = try ChildProcess.run(
            ["sh", "-euc", "cd '\(scratch.path)'\n" + recipe.replacing(named, with: scratch("new"))],
            environment: [
                "PATH": [(Bellwether.path as NSString).deletingLastPathComponent, programs, path].joined(
                    separator: ":"),
                "BELLWETHER_DATA": scratch("data"),
            ], within: 300)
        #expect(restored.status == 0, "\(restored)")
        _ = try old.run("database", "stop", "--force")
        let new = Bellwether(data: scratch("new"))
        #expect(try facts(of: new) == before)
        try goOn(new, load)
    }
}

/// The oldest and the newest PostgreSQL of this machine.
enum Versions {
    static let present: (old: String, new: String)? = {
        let debians = "/usr/lib/postgresql/15/bin"
        guard let newest = try? PostgresInstallation.all(deadline: .after(seconds: 60)).first, newest.version > 15,
            access(debians + "/postgres", X_OK) == 0
        else { return nil }
        return (debians, newest.binDirectory)
    }()
}
