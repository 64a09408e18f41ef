import Accounts
import CatalogueSupport
import EventLog
import Postgres
import TestSupport
import Testing

/// What each view shows such a login is tried beside the hub, where every view has rows (`BoundViews`).
@Suite("Logins that are bound to apps")
struct AnalystAppsTests {
    private static func withTwoApps(_ body: (TestDatabase, inout Connection) throws -> Void) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for slug in ["chat", "shop"] {
            let app = try database.makeApp(slug)
            _ = try database.appender().append([app.submission([.sample()])])
        }
        var owner = try database.connect()
        try body(database, &owner)
    }

    private static func apps(_ connection: inout Connection) throws -> [String] {
        try connection.query("SELECT app FROM analytics.apps ORDER BY 1").map { try $0.get(0) }
    }

    @Test("a login is bound to apps, loses them one by one, and reads all again only if that is said")
    func rule() throws {
        try Self.withTwoApps { database, owner in
            let login = TestPostgres.analyst
            func seen() throws -> [String] {
                var analyst = try database.connect(as: login)
                return try Self.apps(&analyst)
            }
            #expect(try seen() == ["chat", "shop"])
            #expect(try AnalystApps.add(["shop"], to: login, on: &owner).apps == ["shop"])
            #expect(try seen() == ["shop"])
            #expect(try AnalystApps.add(["chat", "chat"], to: login, on: &owner).apps == ["chat", "shop"])
            #expect(try AnalystApps.remove(["shop"], from: login, on: &owner).apps == ["chat"])
            #expect(try seen() == ["chat"])
            #expect(try AnalystApps.remove(["chat"], from: login, on: &owner).apps == [])
            #expect(try seen() == [], "nothing is left, and that is not everything")
            #expect(try AnalystApps.add(nil, to: login, on: &owner).apps == nil)
            #expect(try seen() == ["chat", "shop"])
            #expect(try AnalystApps.add(["chat"], to: "not-yet", on: &owner).canRead == false)
            let listed = try AnalystApps.list(on: &owner)
            #expect(listed.first { $0.login == "not-yet" }?.apps == ["chat"])
            #expect(listed.first { $0.login == login }?.canRead == true)
            func fault(_ body: () throws -> Void) -> String {
                (#expect(throws: AnalystAppsError.self) { try body() })?.description ?? ""
            }
            #expect(fault { _ = try AnalystApps.add(["sho"], to: login, on: &owner) }.contains("bellwether app list"))
            #expect(fault { _ = try AnalystApps.remove(["chat"], from: login, on: &owner) }.contains("reads all apps"))
            #expect(
                fault { _ = try AnalystApps.remove(["shop"], from: "not-yet", on: &owner) }.contains("analyst list"))
            #expect(fault { _ = try AnalystApps.add([], to: "", on: &owner) }.contains("cannot name"))
            let own: String = try owner.query("SELECT current_user::text").value()
            #expect(fault { _ = try AnalystApps.add(["chat"], to: own, on: &owner) }.contains("owns the database"))
            #expect(fault { _ = try AnalystApps.remove([], from: own, on: &owner) }.contains("owns the database"))
        }
    }

    @Test("no session of a bound login gets out of it, by a role, a setting, a prepared statement or a function")
    func kept() throws {
        try Self.withTwoApps { database, owner in
            _ = try AnalystApps.add(["shop"], to: TestPostgres.analyst, on: &owner)
            var analyst = try database.connect(as: TestPostgres.analyst)
            try analyst.execute(script: "PREPARE mine AS SELECT count(*) FROM analytics.events")
            for script in [
                "SET bellwether.apps = '{chat,shop}'", "SET bellwether.apps = ''", "RESET bellwether.apps",
                "RESET ROLE",
                "SET ROLE NONE", "SET search_path = public", "DISCARD ALL",
                "SET ROLE bellwether_analyst", "SET plan_cache_mode = force_generic_plan",
                "SET default_transaction_read_only = off",
            ] {
                try analyst.execute(script: script)
                #expect(try Self.apps(&analyst) == ["shop"], "\(script)")
                #expect(try analyst.query("SELECT FROM analytics.events").count == 1, "\(script)")
            }
            for script in [
                "SELECT log.apps_shown()", "SELECT * FROM log.analyst", "UPDATE log.analyst SET apps = NULL",
                "SET SESSION AUTHORIZATION bellwether_owner", "SELECT log.bind_views()",
            ] {
                let error = #expect(throws: PostgresError.self) { try analyst.execute(script: script) }
                #expect(error?.state == .insufficientPrivilege, "\(script)")
            }
        }
    }

    @Test("the plans of whoever reads all apps have nothing of the rule in them")
    func noTrace() throws {
        try Self.withTwoApps { database, owner in
            var analyst = try database.connect(as: TestPostgres.analyst)
            let views: [String] = try owner.query(
                "SELECT relname::text FROM pg_class WHERE relnamespace = 'analytics'::regnamespace ORDER BY 1"
            ).map { try $0.get(0) }
            func plan(_ view: String) throws -> String {
                let question: String = "EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM analytics.\(view) WHERE app = 'shop'"
                let lines: [String] = try analyst.query(Statement(question)).map { try $0.get(0) }
                return lines.joined(separator: "\n")
            }
            for view in views where view != "batches" && view != "projections" {
                let said = try plan(view)
                #expect(
                    !said.contains("apps_shown") && !said.contains("app_ids_shown") && !said.contains("::text[]) THEN"),
                    "\(view)")
            }
            _ = try AnalystApps.add(["shop"], to: TestPostgres.analyst, on: &owner)
            analyst = try database.connect(as: TestPostgres.analyst)
            #expect(try plan("events").contains("'{shop}'::text[]"))
        }
    }

    @Test("a view that somebody makes without the rule is found, and has it after the next change of a view")
    func found() throws {
        try Self.withTwoApps { database, owner in
            func finding(_ name: String) throws -> [String] {
                try Hardening.look(on: &owner).first { $0.hardening.name == name }?.open ?? ["no such check"]
            }
            #expect(try finding("views without the rule of apps") == [])
            try owner.execute(
                script: """
                    CREATE VIEW analytics.new_funnel AS SELECT slug AS app, count(*) FROM log.app GROUP BY 1;
                    GRANT SELECT ON analytics.new_funnel TO bellwether_analyst;
                    CREATE OR REPLACE VIEW analytics.apps AS
                    SELECT slug AS app, time_zone, false AS days_moving, created_at FROM log.app
                    """)
            #expect(try finding("views without the rule of apps") == ["analytics.apps", "analytics.new_funnel"])
            let mend = try #require(Hardening.all.first { $0.name == "views without the rule of apps" }).mend
            try owner.execute(script: mend)
            #expect(try finding("views without the rule of apps") == [])
            _ = try AnalystApps.add(["shop"], to: TestPostgres.analyst, on: &owner)
            var analyst = try database.connect(as: TestPostgres.analyst)
            #expect(try Self.apps(&analyst) == ["shop"])
            #expect(try analyst.query("SELECT FROM analytics.new_funnel").count == 1)
            // A login that reaches the tables themselves. The command would not bind this one.
            #expect(try finding("logins bound to apps") == [])
            try owner.query("INSERT INTO log.analyst (login, apps) VALUES (\(TestPostgres.owner), '{shop}')")
            #expect(try finding("logins bound to apps").first?.hasPrefix("\(TestPostgres.owner): a member of") == true)
        }
    }
}
