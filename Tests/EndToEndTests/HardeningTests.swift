import Accounts
import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("What readers of the database could do to it")
struct HardeningTests {
    /// Each is possible for anybody who can connect, where nobody has closed it.
    private static let attempts = [
        "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')", "SELECT pg_logical_emit_message(false, 'x', 'y')",
        "SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_lock(1)", "SELECT pg_advisory_xact_lock_shared(1, 2)",
        "CREATE TEMPORARY TABLE mine ()", "SET temp_file_limit = -1",
        "ALTER ROLE bellwether_reader CONNECTION LIMIT -1",
        "ALTER ROLE bellwether_reader SET temp_file_limit = -1",
    ]

    @Test("on a database of one's own it is told what is open, and closed by the statements that are told")
    func closed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let open = try bellwether.run("status", "--security")
        #expect(open.status == 1)
        for words in ["OPEN    functions of everybody", "lo_creat", "pg_advisory_lock", "OPEN    rights of PUBLIC"] {
            #expect(open.output.contains(words), "\(open)")
        }
        for name in ["the group of analysts", "the logins of analysts", "connections for the service"] {
            #expect(open.output.contains("closed  \(name)"), "\(open)")
        }
        var administrator = try database.administrator()
        for finding in try Hardening.look(on: &administrator) where !finding.open.isEmpty {
            #expect(open.output.contains(finding.hardening.mend))
            try administrator.execute(script: finding.hardening.mend)
        }
        let closed = try bellwether.run("status", "--security")
        #expect(closed.status == 0 && !closed.output.contains("OPEN"), "\(closed)")
        #expect(try bellwether.run("status", "--security", "--format", "json").status == 0)
        for attempt in Self.attempts {
            var analyst = try database.connect(as: TestCluster.analyst)
            // Apart: the first statement of a script decides for all of them whether they may write.
            try analyst.execute(script: "SET ROLE NONE")
            try analyst.execute(script: "SET default_transaction_read_only = off")
            let error = #expect(throws: PostgresError.self, "\(attempt)") {
                try analyst.execute(script: attempt)
            }
            #expect(error?.state == .insufficientPrivilege, "\(attempt)")
        }
        // And the service goes on without them.
        let app = try database.makeApp()
        let service = try bellwether.serve()
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        #expect(try service.stop() == 0)
    }

    @Test("a login without limits is told by its name")
    func logins() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var administrator = try database.administrator()
        try administrator.execute(
            script: "DROP ROLE IF EXISTS careless; CREATE ROLE careless LOGIN IN ROLE bellwether_analyst")
        defer { try? administrator.execute(script: "DROP ROLE careless") }
        let told = try Hardening.look(on: &administrator)
        #expect(told[3].open == ["careless: no limit of connections: no temp_file_limit"])
        #expect(told[4].open.count == 1)
    }

    @Test("what one changes of the group, or of himself, changes nothing for others")
    func ownSettings() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var analyst = try database.connect(as: TestCluster.analyst)
        #expect(try analyst.query("SELECT current_user")[0].get(0) == "bellwether_analyst")
        // As the group he may do it; nobody begins with it.
        try analyst.execute(script: "SET default_transaction_read_only = off")
        try analyst.execute(script: "ALTER ROLE bellwether_analyst SET statement_timeout = 0")
        var another = try database.connect(as: TestCluster.analyst)
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
        var analyst = try database.connect(as: TestCluster.analyst)
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
        _ = try bellwether.trusted(
            "psql", "--", "-Xqc", "SET ROLE NONE", "-c", "SET default_transaction_read_only = off", "-c",
            "ALTER ROLE bellwether_reader SET statement_timeout = 0")
        #expect(
            try bellwether.trusted("psql", "--", "-XAtc", "SELECT current_user, current_setting('statement_timeout')")
                == "bellwether_analyst|5min\n")
    }

    @Test("the statements stand in the guide and in the compose file as the program has them")
    func guide() throws {
        let mend = try #require(Hardening.all.first { $0.name == "functions of everybody" }).mend
        for file in ["Docs/Operations.md", "Examples/compose/owner.sql"] {
            #expect(try DeploymentCheck.text(of: file).contains(mend), "\(file)")
        }
    }
}
