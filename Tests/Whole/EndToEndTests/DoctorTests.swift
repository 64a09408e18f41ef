import EmbeddedPostgres
import EventLog
import Foundation
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@Suite("The doctor")
struct DoctorTests {
    private struct Finding: Decodable {
        let check: String
        let status: String
        let what: String
        let to_do: String?
        let runbook: String?
    }

    private func examine(_ bellwether: Bellwether, fails: Bool = false) throws -> [String: Finding] {
        let ended = try bellwether.run("doctor", "--format", "json")
        #expect(ended.status == (fails ? 1 : 0), "\(ended)")
        let findings = try JSONDecoder().decode([Finding].self, from: Data(ended.output.utf8))
        #expect(findings.allSatisfy { ($0.status == "ok") == ($0.to_do == nil) && !$0.what.isEmpty })
        #expect(findings.allSatisfy { ($0.to_do == nil) == ($0.runbook == nil) })
        #expect(findings.contains { $0.status == "fail" } == fails, "\(findings)")
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.check, $0) })
    }

    @Test("a new embedded database is well, in both formats, a line each")
    func embedded() throws {
        let directory = TemporaryDirectory()
        let bellwether = Bellwether(data: directory("data"))
        defer { _ = try? bellwether.run("database", "stop", "--force") }
        let found = try examine(bellwether)
        #expect(found.count == 19, "\(found.keys)")
        for (name, finding) in found where name != "disk" { #expect(finding.status == "ok", "\(finding)") }
        let text = try bellwether.trusted("doctor")
        #expect(text.split(separator: "\n").count == 19)
        #expect(text.contains("OK    server       PostgreSQL"), "\(text)")
    }

    @Test("rights, settings of a login, funnels, partitions, reports and commands that were interrupted are looked at")
    func faults() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        // The tests' own cluster is quick and forgets.
        var found = try examine(bellwether, fails: true)
        #expect(found["durability"]?.status == "fail" && found["durability"]?.what.contains("fsync") == true)
        #expect(found["durability"]?.to_do?.contains("ALTER SYSTEM SET fsync = on;") == true)
        #expect(found["disk"] == nil && found["security"]?.status == "warn")
        for name in [
            "server", "migrations", "roles", "connections", "clock", "archive", "backup", "standby", "partitions",
            "projections", "steps", "commits", "proof", "unfinished", "reports",
        ] { #expect(found[name]?.status == "ok", "\(name): \(String(describing: found[name]))") }

        let app = try database.makeApp()
        _ = try database.appender().append([app.submission([.sample()])])
        try database.run("UPDATE log.head SET created_at = now() - interval '9 days'")
        #expect(try examine(bellwether, fails: true)["backup"]?.what.contains("no backup is known of") == true)
        try database.run("INSERT INTO bellwether.backup DEFAULT VALUES")
        #expect(try examine(bellwether, fails: true)["backup"]?.status == "ok")
        try database.run("UPDATE bellwether.backup SET finished_at = now() - interval '9 days'")
        try database.run(
            """
            REVOKE INSERT ON log.event FROM bellwether_ingest;
            DELETE FROM log.partition WHERE month > now();
            UPDATE log.app SET created_at = now() - interval '3 days';
            UPDATE projection.projector SET stopped_batch = 1, stopped_at = now(), stopped_because = 'a constraint'
            WHERE name = 'category_funnel';
            INSERT INTO log.erasure (app, install_id, erased_at, history, number)
            SELECT id, gen_random_uuid(), now(), 1, 1 FROM log.app;
            """)
        found = try examine(bellwether, fails: true)
        #expect(found["roles"]?.status == "fail")
        #expect(found["roles"]?.to_do?.contains("GRANT INSERT ON log.event TO bellwether_ingest;") == true)
        #expect(found["backup"]?.status == "warn" && found["backup"]?.what.contains("9 days ago") == true)
        #expect(found["projections"]?.status == "fail")
        #expect(found["projections"]?.what.contains("category_funnel stopped at batch 1: a constraint") == true)
        #expect(found["projections"]?.to_do?.contains("bellwether projection resume category_funnel") == true)
        #expect(found["partitions"]?.status == "warn" && found["partitions"]?.to_do?.contains("serve") == true)
        #expect(found["reports"]?.status == "warn" && found["reports"]?.what.contains("none was ever kept") == true)
        #expect(
            found["unfinished"]?.status == "warn" && found["unfinished"]?.to_do?.contains("bellwether erase") == true)
        try database.run(
            """
            INSERT INTO report.kept
                (app, day, position, made_at, is_final, received_engaged, content, as_text, as_markdown, as_html,
                    as_json, as_csv)
            SELECT slug, current_date - 1, 1, now() - interval '1 h', true, 0, '', '', '', '', '', '' FROM log.app
            """)
        #expect(try examine(bellwether, fails: true)["reports"]?.status == "ok")
    }

    @Test("it is said when the numbers were last proved, and what the last verification found")
    func proof() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        func proof() throws -> (status: String?, what: String) {
            let found = try examine(bellwether, fails: true)["proof"]
            return (found?.status, found?.what ?? "")
        }
        #expect(try proof().what == "there is no event yet to prove numbers by")
        let app = try database.makeApp()
        _ = try database.appender().append([app.submission([.sample()])])
        _ = try bellwether.trusted("project", "--once")
        #expect(try proof().status == "ok")
        try database.run(
            "BEGIN; SELECT log.open_gate(); UPDATE log.batch SET committed_at = now() - interval '3 days'; COMMIT")
        #expect(try proof() == ("warn", "no number was ever proved"))
        _ = try bellwether.trusted("verify", "--since", "2026-11-20")
        #expect(try proof().what.hasSuffix(", and all numbers never"))
        _ = try bellwether.trusted("verify")
        #expect(try proof().status == "ok" && proof().what.hasPrefix("all numbers were proved at "))
        try database.run("UPDATE projection.category_funnel SET opened = opened + 1")
        #expect(try bellwether.run("verify", "--since", "2026-11-19").status == 1)
        #expect(try proof().status == "fail" && proof().what.hasSuffix("found differing cells: 1"))
        // A failure is no proof, and takes none away.
        let told = try bellwether.trusted("status")
        #expect(told.contains("from 2026-11-19 on  1") && told.contains("all                 1"), "\(told)")
        #expect(told.contains("differing cells: 1") && told.contains("proved"), "\(told)")
        try database.run(
            "UPDATE projection.category_funnel SET opened = opened - 1; UPDATE projection.proof SET verified_at = now() - interval '2 days' WHERE is_proved; DELETE FROM projection.proof WHERE NOT is_proved"
        )
        #expect(try proof().status == "warn" && proof().what.hasSuffix("over 26 hours ago"))
        // What was counted anew since is not what was proved.
        _ = try bellwether.trusted("rebuild")
        #expect(try proof().what.contains("since the funnels were built anew"))
        _ = try bellwether.trusted("verify")
        #expect(try proof().status == "ok")
    }

    @Test("an archive that fails, a standby that is missing and too few connections are looked at")
    func server() throws {
        let cluster = try TestPostgres.separate(settings: ["shared_buffers": "16MB", "max_connections": "12"])
        defer { TestPostgres.remove(cluster) }
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        administrator.deadline = .after(seconds: 60)
        let bellwether = Bellwether(database: cluster.connectionURL(database: "postgres"))
        #expect(try bellwether.run("migrate").status == 0)
        var found = try examine(bellwether)
        #expect(found["durability"]?.status == "ok" && found["connections"]?.status == "warn", "\(found)")
        #expect(found["archive"]?.what.contains("archive_mode is off") == true)

        try administrator.execute(script: "ALTER SYSTEM SET archive_mode = on")
        try administrator.execute(script: "ALTER SYSTEM SET archive_command = 'false'")
        try administrator.execute(script: "ALTER SYSTEM SET synchronous_standby_names = 'far'")
        _ = consume administrator
        #expect(try EmbeddedServer.stop(dataDirectory: cluster.dataDirectory, force: true))
        try cluster.ensureRunning()
        administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        administrator.deadline = .after(seconds: 60)
        try administrator.execute(script: "SET synchronous_commit = local")
        try administrator.query("SELECT pg_switch_wal()")
        let hasFailed = try eventually {
            try administrator.query("SELECT failed_count > 0 FROM pg_stat_archiver")[0].get(0)
        }
        #expect(hasFailed)
        found = try examine(bellwether, fails: true)
        #expect(found["archive"]?.status == "fail" && found["archive"]?.what.hasPrefix("archiving fails: ") == true)
        #expect(found["standby"]?.status == "fail" && found["standby"]?.what.contains("none is connected") == true)
    }

    @Test("a database that is not migrated fails, and its tables are not looked for; one that is away ends with 69")
    func unmigrated() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let found = try examine(try Bellwether(database), fails: true)
        #expect(found["migrations"]?.what.contains("run bellwether migrate") == true)
        #expect(found["server"]?.status == "ok" && found["projections"] == nil && found["roles"] == nil)
        #expect(try Bellwether(database: "postgresql://127.0.0.1:1/none").run("doctor").status == 69)
    }

    @Test("a login that is not the owner is told to ask as the owner, and nothing breaks")
    func reader() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let reader = Bellwether(database: try database.url(as: TestPostgres.analyst))
        let ended = try reader.run("doctor")
        #expect(ended.output.contains("as the owner of the database"), "\(ended)")
        #expect(ended.output.contains(". See Docs/Runbook.md#a-login-lacks-a-right\n"), "\(ended)")
    }
}
