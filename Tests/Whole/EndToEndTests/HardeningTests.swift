import Accounts
import EmbeddedPostgres
import EventLog
import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

@Suite("What readers of the database could do to it")
struct HardeningTests {
    /// Each is possible for anybody who can connect, where nobody has closed it.
    private static let attempts = [
        "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')", "SELECT pg_logical_emit_message(false, 'x', 'y')",
        "SELECT pg_export_snapshot()", "SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_advisory_xact_lock_shared(1, 2)",
        "CREATE TEMPORARY TABLE mine ()", "SET temp_file_limit = -1", "DO 'BEGIN END'", "SET log_min_messages = log",
        "ALTER ROLE CURRENT_USER CONNECTION LIMIT -1", "ALTER ROLE CURRENT_USER SET temp_file_limit = -1",
        "ALTER ROLE CURRENT_USER SET log_min_messages = log",
        "ALTER ROLE CURRENT_USER IN DATABASE bellwether SET temp_file_limit = -1",
        "COPY (SELECT 1) TO PROGRAM 'true'", "SELECT pg_read_file('PG_VERSION')", "CREATE SCHEMA mine",
        "CREATE TABLE public.mine ()", "ALTER SYSTEM SET log_min_messages = log",
        "SET SESSION AUTHORIZATION bellwether_owner",
    ]

    @Test("whoever binds a login is told if its open sessions go on, and by which statement to end them")
    func openSessions() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp("shop")
        let bellwether = try Bellwether(database)
        let words = ["app", "analyst", "add", TestPostgres.analyst, "--app", "shop"]
        var analyst = try database.connect(as: TestPostgres.analyst)
        #expect(try analyst.query("SELECT FROM analytics.apps").count == 1)
        let open = try bellwether.start(words).wait()
        #expect(open.status == 1 && open.messages.contains("reads these apps: shop"), "\(open)")
        let told = try #require(open.messages.firstMatch(of: /SELECT pg_terminate_backend.*;/), "\(open)")
        var administrator = try database.administrator()
        try administrator.execute(script: String(told.output))
        #expect(throws: PostgresError.self) { try analyst.query("SELECT FROM analytics.apps") }
        let again = try bellwether.start(words).wait()
        #expect(again.status == 0 && !again.messages.contains("pg_terminate_backend"), "\(again)")
    }

    @Test(
        "on a server of one's own it is told what is open, and closed by the statements that are told, or by the guide's",
        arguments: [false, true])
    func closed(byGuide: Bool) throws {
        let cluster = try TestPostgres.separate(
            settings: ServerOptions.throwawaySettings.merging(["log_min_messages": "log"], uniquingKeysWith: { $1 }),
            logins: ["anna"])
        defer { TestPostgres.remove(cluster) }
        func url(_ user: String?, _ database: String = "bellwether") -> String {
            cluster.connectionURL(database: database, user: user)
        }
        var superuser = try Connection(url: url(nil, "postgres"))
        try superuser.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        try superuser.execute(script: "CREATE DATABASE bellwether OWNER \(TestPostgres.owner)")
        let bellwether = Bellwether(database: url(TestPostgres.owner))
        _ = try bellwether.trusted("migrate")
        let guide = try Self.statementsOfTheGuide()
        var administrator = try Connection(url: url(nil))
        try administrator.execute(script: try #require(guide.first))

        let open = try bellwether.run("status", "--security")
        #expect(open.status == 1)
        for words in [
            "functions of everybody", "languages of everybody", "rights of PUBLIC", "other databases of the server",
        ] { #expect(open.output.contains("OPEN    \(words)"), "\(open)") }
        for name in ["the group of analysts", "the logins of analysts", "connections for the service"] {
            #expect(open.output.contains("closed  \(name)"), "\(open)")
        }
        for statements in guide.dropFirst() where byGuide { try administrator.execute(script: statements) }
        for finding in try Hardening.look(on: &administrator) where !finding.open.isEmpty {
            #expect(!byGuide, "\(finding.hardening.name): \(finding.open)")
            #expect(open.output.contains(finding.hardening.mend))
            try administrator.execute(script: finding.hardening.mend)
        }
        let closed = try bellwether.run("status", "--security", "--format", "json")
        #expect(closed.status == 0, "\(closed)")
        for attempt in Self.attempts {
            var anna = try Connection(url: url("anna"))
            // Apart: the first statement of a script decides for all of them whether they may write.
            try anna.execute(script: "SET default_transaction_read_only = off")
            let error = #expect(throws: PostgresError.self, "\(attempt)") { try anna.execute(script: attempt) }
            #expect(error?.state == .insufficientPrivilege, "\(attempt)")
        }
        // This says that it could revoke nothing.
        var leaver = try Connection(url: url("anna"))
        try leaver.execute(script: "SET default_transaction_read_only = off")
        try leaver.execute(script: "DROP OWNED BY bellwether_analyst")
        try leaver.query("SELECT count(*) FROM analytics.events")
        for database in ["postgres", "template1"] {
            let error = #expect(throws: PostgresError.self) { _ = try Connection(url: url("anna", database)) }
            #expect("\(String(describing: error))".contains("permission denied for database"), "\(database)")
        }
        // And the service goes on without them.
        _ = try bellwether.trusted("migrate")
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: key).status == 200)
        #expect(try service.stop() == 0)
        try expectQuiet(url("anna"), &administrator)
        try expectTold(url("anna"), bellwether)
    }

    /// The error quotes the whole value that it is about.
    private func expectQuiet(_ url: String, _ administrator: inout Connection) throws {
        let size: Statement = "SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_logdir()"
        let before: Int64 = try administrator.query(size)[0].get(0)
        var anna = try Connection(url: url)
        for script in ["SELECT repeat('y', 1000000)::integer", "SET debug_print_plan = on; SELECT 1"] {
            _ = try? anna.execute(script: script)
        }
        let after: Int64 = try administrator.query(size)[0].get(0)
        #expect(after - before < 1_000_000)
    }

    /// A login may set this for itself, and nobody can use it any more.
    private func expectTold(_ url: String, _ bellwether: Bellwether) throws {
        var anna = try Connection(url: url)
        try anna.execute(script: "SET default_transaction_read_only = off")
        try anna.execute(script: "ALTER ROLE anna IN DATABASE bellwether SET local_preload_libraries = 'gone'")
        #expect(throws: PostgresError.self) { _ = try Connection(url: url) }
        let told = try bellwether.run("status", "--security")
        #expect(told.status == 1)
        #expect(told.output.contains("anna: local_preload_libraries=gone in database bellwether"), "\(told)")
        #expect(try bellwether.run("doctor").output.contains("logins that shut themselves out"))
    }

    /// What "People who read" says to run.
    private static func statementsOfTheGuide() throws -> [String] {
        let text = try ProjectFolder.text(of: "Docs/Operations.md")
        let part = try #require(text.components(separatedBy: "### People who read\n").last)
        let blocks = try #require(part.components(separatedBy: "\n## ").first).components(separatedBy: "```sql\n")
        return blocks.dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }

    @Test("a login without limits is told by its name, also a member by way of another role")
    func logins() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var administrator = try database.administrator()
        try administrator.execute(
            script: """
                DROP ROLE IF EXISTS careless, team; CREATE ROLE team IN ROLE bellwether_analyst;
                CREATE ROLE careless LOGIN IN ROLE team
                """)
        defer { try? administrator.execute(script: "DROP ROLE careless, team") }
        let told = try Hardening.look(on: &administrator)
        func open(_ name: String) -> [String] { told.filter { $0.hardening.name == name }.flatMap(\.open) }
        #expect(
            open("the logins of analysts")
                == ["careless: no limit of connections: no temp_file_limit: no log_min_messages"])
        #expect(open("connections for the service").count == 1)
    }

    @Test("what one changes of the group, or of himself, changes nothing for others")
    func ownSettings() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var analyst = try database.connect(as: TestPostgres.analyst)
        #expect(try analyst.query("SELECT current_user")[0].get(0) == "bellwether_analyst")
        // As the group he may do it; nobody begins with it.
        try analyst.execute(script: "SET default_transaction_read_only = off")
        try analyst.execute(script: "ALTER ROLE bellwether_analyst SET statement_timeout = 0")
        var another = try database.connect(as: TestPostgres.analyst)
        let row = try another.query("SELECT current_setting('statement_timeout'), current_setting('temp_file_limit')")[
            0]
        #expect(try row.get(0) == "5min")
        #expect(try row.get(1) == "2GB")
        try analyst.execute(script: "ALTER ROLE bellwether_analyst RESET ALL")
        var owner = try database.connect()
        #expect(
            try owner.query("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'bellwether_analyst'")[0].get(0) == false)
    }

    @Test("a reader who takes every lock that he can keeps no report from being kept")
    func reportLock() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        _ = try database.appender().append([app.submission([.sample()])])
        let bellwether = try Bellwether(database)
        _ = try bellwether.trusted("project", "--once")
        var analyst = try database.connect(as: TestPostgres.analyst)
        try analyst.query("SELECT pg_advisory_lock(hashtextextended('bellwether report shop', 0))")
        #expect(throws: PostgresError.self) { try analyst.execute(script: "SELECT report.take_turn('shop')") }
        #expect(throws: PostgresError.self) {
            try analyst.execute(script: "LOCK TABLE projection.renewal IN SHARE UPDATE EXCLUSIVE MODE")
        }
        let ended = try bellwether.run("report", "--app", "shop", "--date", "2026-11-20")
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
        #expect(try database.value("SELECT count(*) FROM analytics.reports", as: Int64.self) == 1)
    }

    @Test("the embedded server comes closed, and stays so when its reader has changed himself")
    func embedded() throws {
        let scratch = TemporaryDirectory()
        let bellwether = Bellwether(data: scratch("data"))
        _ = try bellwether.trusted("app", "create", "shop")
        let status = try bellwether.run("status", "--security")
        #expect(status.status == 0, "\(status)")
        for attempt in Self.attempts {
            let ended = try bellwether.run(
                "psql", "--", "-Xqv", "ON_ERROR_STOP=1", "-c", "SET ROLE NONE", "-c",
                "SET default_transaction_read_only = off",
                "-c", attempt)
            #expect(ended.status == 3 || ended.status == 1, "\(attempt): \(ended)")
            #expect(ended.messages.contains("permission denied") || ended.messages.contains("must"), "\(ended)")
        }
        let elsewhere = try bellwether.run("psql", "--", "-Xqd", "postgres", "-c", "SELECT 1")
        #expect(elsewhere.messages.contains("permission denied for database"), "\(elsewhere)")
        for setting in ["SET statement_timeout = 0", "IN DATABASE bellwether SET local_preload_libraries = 'gone'"] {
            _ = try bellwether.trusted(
                "psql", "--", "-Xqc", "SET ROLE NONE", "-c", "SET default_transaction_read_only = off", "-c",
                "ALTER ROLE bellwether_reader \(setting)")
            #expect(
                try bellwether.trusted(
                    "psql", "--", "-XAtc", "SELECT current_user, current_setting('statement_timeout')")
                    == "bellwether_analyst|5min\n")
        }
    }

    @Test(
        "whoever holds all sessions of the embedded server's reader keeps nobody out, and the pages have their own login"
    )
    func sessions() throws {
        let scratch = TemporaryDirectory()
        let bellwether = Bellwether(data: scratch("data"))
        let url = String(try bellwether.trusted("database-url", "--role", "analyst").dropLast())
        defer { _ = try? bellwether.run("database", "stop", "--force") }
        var held: [LentSession] = []
        for _ in 0..<AnalystLogin.connections { held.append(LentSession(try Connection(url: url))) }
        #expect(throws: PostgresError.self) { _ = try Connection(url: url) }
        var pages = try Connection(url: url.replacing(AnalystLogin.embedded, with: AnalystLogin.pages))
        #expect(try pages.query("SELECT current_user")[0].get(0) == "bellwether_analyst")
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT 1") == "1\n")
        #expect(held.count == AnalystLogin.connections)
    }

    @Test("the embedded server's log begins a new file when one is large, and the oldest go while it serves")
    func logIsBounded() throws {
        let scratch = TemporaryDirectory()
        let bellwether = Bellwether(data: scratch("data"))
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        let log = scratch("data") + "/pg/log"
        for number in 10..<40 {
            try "old\n".write(toFile: "\(log)/server-2020-01-\(number)-000000.log", atomically: false, encoding: .utf8)
        }
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: log).filter { $0.hasPrefix("server-") }
        }
        let isCut = try eventually { try files().count == 10 }
        let left = try files()
        #expect(isCut, "\(left)")
        #expect(left.contains { !$0.hasPrefix("server-2020") }, "the newest stays")
        let shown = try bellwether.trusted("psql", "--", "-XAtc", "SHOW log_rotation_size")
        #expect(shown == "10MB\n")
    }

    /// Keeps a session, which cannot be copied, in an array.
    private final class LentSession {
        let connection: Connection
        init(_ connection: consuming Connection) { self.connection = connection }
    }

    @Test("the statements stand in the guide and in the compose file as the program has them")
    func guide() throws {
        for name in ["functions of everybody", "languages of everybody", "other databases of the server"] {
            let mend = try #require(Hardening.all.first { $0.name == name }).mend
            for file in ["Docs/Operations.md", "Examples/compose/owner.sql"] {
                #expect(try ProjectFolder.text(of: file).contains(mend), "\(file): \(name)")
            }
        }
    }
}
