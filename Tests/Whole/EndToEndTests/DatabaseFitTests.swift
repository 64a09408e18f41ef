import Foundation
import Postgres
import TestSupport
import Testing

/// What `serve` and `migrate` do with such a database: `OwnDatabaseTests`.
@Suite("A database of another version")
struct DatabaseFitTests {
    private static let install = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"

    private static let commands = [
        ["app", "create", "shop"], ["app", "list"], ["app", "set", "shop", "--time-zone", "UTC"],
        ["app", "key", "add", "shop"], ["app", "key", "revoke", "shop", "write"], ["status"], ["project", "--once"],
        ["projection", "resume", "deliveries"], ["verify"], ["verify", "--sample"], ["rebuild"],
        ["retain", "--days", "400"], ["report"], ["report", "--all-apps", "--output-dir", "/tmp/none"],
        ["erase", "--app", "shop", "--install", install], ["categories", "list", "--app", "shop"],
        ["categories", "check", "--app", "shop"], ["categories", "import", "--app", "shop", "--preset", "hive"],
        ["rejected", "list"], ["rejected", "replay"],
    ]

    private func expectRefusal(_ commands: [[String]], of bellwether: Bellwether, _ message: String) throws {
        for words in commands {
            let ended = try bellwether.start(words).wait()
            #expect(ended.status == 1 && ended.output.isEmpty, "\(words) \(ended)")
            #expect(ended.messages == "bellwether: \(message)\n", "\(words)")
        }
    }

    /// As a newer program would have left it.
    private static let newer = """
        INSERT INTO bellwether.migration
        SELECT (jsonb_populate_record(m, '{"name": "9999_from_the_future"}')).* FROM bellwether.migration AS m LIMIT 1
        """
    private static let isNewer =
        "the database is newer than this program (9999_from_the_future): use a newer bellwether"

    @Test("one that was never migrated has every command say what to do, psql too")
    func unmigrated() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let ended = try bellwether.run("status")
        let message = try #require(
            ended.messages.wholeMatch(of: /bellwether: (the database lacks \d+ migrations: run bellwether migrate)\n/))
        try expectRefusal(
            Self.commands + [["psql", "--", "-c", "SELECT 1"]], of: bellwether, String(message.output.1))
        #expect(try bellwether.run("database-url").status == 0)
        #expect(try bellwether.run("migrate").status == 0)
        #expect(try bellwether.run("status").status == 0)
    }

    @Test("one that is newer is touched by no command, but read by psql")
    func newer() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.run(Self.newer)
        let bellwether = try Bellwether(database)
        try expectRefusal(Self.commands, of: bellwether, Self.isNewer)
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "0\n")
        #expect(try bellwether.run("database-url").status == 0)
        #expect(try bellwether.run("migrate").messages.contains("newer than this program"))
    }

    @Test("one that was migrated with another text, as before 1.0, is touched by no command, but read by psql")
    func drifted() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.run("UPDATE bellwether.migration SET hash = 'another' WHERE name = '0005_events'")
        let bellwether = try Bellwether(database)
        try expectRefusal(
            Self.commands, of: bellwether,
            "the database was migrated with another text of 0005_events than this program has, so a version "
                + "before the first release made it, or somebody changed it by hand: use the program that migrated it, "
                + "or begin with a new database")
        let migrated = try bellwether.run("migrate")
        #expect(migrated.status == 1 && migrated.messages.contains("Nothing was changed"), "\(migrated)")
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "0\n")
    }

    @Test("an embedded one that is newer is touched by no command, but read and told of")
    func embedded() throws {
        let scratch = TemporaryDirectory()
        let bellwether = Bellwether(data: scratch("data"))
        defer { _ = try? bellwether.run("database", "stop", "--force") }
        let url = String(try bellwether.trusted("database-url").dropLast())
        var connection = try Connection(url: url)
        try connection.execute(script: Self.newer)
        let listed = try bellwether.run("app", "list")
        #expect(listed.status == 1 && listed.messages.contains("newer than this program"), "\(listed)")
        #expect(try bellwether.trusted("database-url") == url + "\n")
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "0\n")
    }

    @Test("one that is being migrated is not waited for long, and psql reads it meanwhile")
    func underway() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        var migration = try database.connect()
        // As a migration does.
        try migration.execute(script: "BEGIN; LOCK TABLE bellwether.migration IN ACCESS EXCLUSIVE MODE")
        let both = try [["app", "list"], ["psql", "--", "-XAtc", "SELECT count(*) FROM events"]].map {
            try bellwether.start($0)
        }
        let (list, psql) = (try both[0].wait(), try both[1].wait())
        #expect(list.status == 1 && list.messages.contains("is being migrated"), "\(list)")
        #expect(psql.status == 0 && psql.output == "0\n", "\(psql)")
        try migration.execute(script: "ROLLBACK")
        #expect(try bellwether.run("app", "list").status == 0)
    }

    /// A login that may make reports, and nothing else, is one of `ServiceLoginTests`.
    @Test("a login that may not read of migrations is let through, to what it may do")
    func login() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let analyst = Bellwether(database: try database.url(as: TestPostgres.analyst))
        #expect(try analyst.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "0\n")
        let stranger = try Bellwether(database: try database.url(as: TestPostgres.stranger)).run("report")
        #expect(stranger.status == 1 && stranger.messages.contains("GRANT bellwether_reporter TO"), "\(stranger)")
    }
}
