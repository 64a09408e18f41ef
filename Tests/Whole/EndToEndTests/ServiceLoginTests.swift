import EmbeddedPostgres
import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

/// The SQL that the compose file runs, on a cluster of its own: the owner, the program's migrations, then a login for
/// each service.
@Suite("A login for each service") struct ServiceLoginTests {
    /// Each login, and the one role that it may become.
    private static let logins = [
        "bellwether_ingest_service": "bellwether_ingest", "bellwether_project_service": "bellwether_projector",
        "bellwether_report_service": "bellwether_reporter", "bellwether_look_service": "bellwether_look",
    ]
    /// As bad as a password can be.
    private static let passwords = [
        "BELLWETHER_OWNER_PASSWORD": #"it's "$HOME" 100%"#, "BELLWETHER_INGEST_PASSWORD": #"\'; --"#,
        "BELLWETHER_PROJECT_PASSWORD": ":'ingest'", "BELLWETHER_REPORT_PASSWORD": "plain",
        "BELLWETHER_LOOK_PASSWORD": "$look",
    ]

    @Test("with it each service does its work, and may become no role but that of its work")
    func logins() throws {
        let cluster = try TestPostgres.separate(logins: Array(Self.logins.keys))
        defer { TestPostgres.remove(cluster) }
        func url(_ user: String?) -> String { cluster.connectionURL(database: "bellwether", user: user) }
        try run("owner.sql", on: cluster.connectionURL(database: "postgres"))
        let owner = Bellwether(database: url("bellwether_owner"))
        _ = try owner.trusted("migrate")
        // Again, as after each upgrade.
        for _ in 0..<2 { try run("logins.sql", on: url("bellwether_owner")) }
        let key = String(try owner.trusted("app", "create", "shop").dropLast())
        _ = try owner.trusted("look", "key", "add", "growth")

        let ingest = try Bellwether(database: url("bellwether_ingest_service")).serve("--only", "ingest")
        defer { _ = try? ingest.stop() }
        let project = try Bellwether(database: url("bellwether_project_service")).serve("--only", "project")
        defer { _ = try? project.stop() }
        #expect(try ingest.client().post(Wire.envelope(Wire.event()), key: key).results.accepted == 1)
        var reporter = try Connection(url: url("bellwether_report_service"))
        let isCounted = try eventually {
            let rows = try reporter.query("SELECT delivered FROM analytics.category_funnel")
            return try rows.first?.get(0) == Int64(1)
        }
        #expect(isCounted, "\(project.log)")
        try expectNight(url("bellwether_report_service"))
        try expectReader(url("bellwether_owner"))
        try expectRetention(url("bellwether_owner"))
        try expectPages(url("bellwether_look_service"))

        // What older rules have counted it may not make anew, and says who may.
        var tables = try Connection(url: url("bellwether_owner"))
        try tables.query("UPDATE projection.projector SET version = 0 WHERE name = 'media_funnel'")
        #expect(eventually { project.log.contains("run bellwether rebuild as the owner") }, "\(project.log)")
        _ = try owner.trusted("rebuild", "media_funnel")
        #expect(try ingest.client().post(Wire.envelope(Wire.event()), key: key).results.accepted == 1)
        _ = try Bellwether(database: url("bellwether_project_service")).trusted("project", "--once")
        try expectErasure(ingest, project, by: owner)

        for (login, own) in Self.logins {
            var connection = try Connection(url: url(login))
            for role in Set(Self.logins.values).union(["bellwether_owner"]) {
                let mayBecome: Bool
                do {
                    try connection.execute(script: "SET ROLE \(role); RESET ROLE")
                    mayBecome = true
                } catch { mayBecome = false }
                #expect(mayBecome == (role == own), "\(login) as \(role)")
            }
            let tables: [String] = try connection.query(
                """
                SELECT oid::regclass::text FROM pg_class
                WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('log', 'bellwether', 'report'))
                    AND relkind IN ('r', 'p') AND has_table_privilege(oid, 'UPDATE, DELETE, TRUNCATE')
                """
            ).map { try $0.get(0) }
            // Letters are marked when they leave, and when they have arrived.
            let letters = login == "bellwether_report_service" ? ["report.letter", "report.letter_round"] : []
            #expect(tables.sorted() == letters, "\(login)")
        }
        var administrator = try Connection(url: url(nil))
        let kept = try administrator.query(
            """
            SELECT count(*) FROM pg_authid WHERE rolname IN (
                'bellwether_owner', 'bellwether_ingest_service', 'bellwether_project_service',
                'bellwether_report_service', 'bellwether_look_service')
            AND rolpassword LIKE 'SCRAM-SHA-256$%' AND NOT rolsuper
            """)
        #expect(try kept[0].get(0) == Int64(5))
    }

    /// No service may erase, and says who may.
    private func expectErasure(_ ingest: RunningService, _ project: RunningService, by owner: Bellwether) throws {
        let key = try owner.trusted("app", "key", "add", "shop", "--server").dropLast()
        let install = Wire.id()
        func ask() throws -> Int {
            try ingest.client().send(
                "DELETE", "/v1/installs/\(install)", headers: ["Authorization": "Bearer \(key)"]
            ).status
        }
        #expect(try ask() == 202)
        #expect(
            eventually { project.log.contains("run bellwether erase --requested as the owner") }, "\(project.log)")
        let metrics = try project.client().get("/metrics").body
        #expect(metrics.contains("\nbellwether_erasures_waiting 1\n"), "\(metrics)")
        #expect(try owner.trusted("erase", "--requested") == "Erased install \(install) of app shop\n")
        #expect(try ask() == 200)
    }

    /// Whoever may use Docker reads as the guide says.
    private func expectReader(_ url: String) throws {
        let guide = try ProjectFolder.text(of: "Docs/Operations.md")
        let command = try #require(guide.firstMatch(of: /docker compose exec database (psql .+)/)).1
        let place = try #require(url.firstMatch(of: /host=([^&]+)&port=(\d+)/))
        let ended = try ChildProcess.run(
            ["sh", "-c", "\(command) -XAtc 'SELECT current_user, count(*) FROM events'"],
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "",
                "PGHOST": String(place.1).removingPercentEncoding ?? "", "PGPORT": String(place.2),
            ])
        #expect(ended.output == "bellwether_analyst|1\n", "\(ended)")
    }

    /// The pages ask for the owner's key.
    private func expectPages(_ url: String) throws {
        let pages = try Bellwether(database: url).start(["look", "--listen", "0.0.0.0:0"])
        #expect(eventually { pages.messages.contains("\"looking\"") || !pages.isRunning })
        let port = try #require(pages.messages.firstMatch(of: /"address":"0.0.0.0:([0-9]+)"/), "\(pages.messages)").1
        #expect(
            try eventually { try HTTPClient(port: UInt16(port) ?? 0).get("/sign-in").status == 200 },
            "\(pages.messages)")
        // Whoever watches it has no key.
        let health = try HTTPClient(port: UInt16(port) ?? 0).get("/healthz")
        #expect(health.status == 200 && health.body.hasPrefix("ok "), "\(health)")
        #expect(try HTTPClient(port: UInt16(port) ?? 0).get("/").status != 200)
        pages.signal(SIGTERM)
        #expect(try pages.wait().status == 0)
    }

    /// The script that makes the nightly reports makes them at once, and goes on.
    private func expectNight(_ url: String) throws {
        let reports = TemporaryDirectory()
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places =
            "{\"from\": \"a@b\", \"sendmail\": \"/bin/true\", \"places\": [{\"name\": \"ana\", \"mail\": [\"c@d\"]}]}"
        try places.write(toFile: reports("places.json"), atomically: false, encoding: .utf8)
        let night = try ChildProcess(
            ["bash", ProjectFolder.path + "/Examples/compose/nightly.sh"],
            environment: [
                "PATH": (Bellwether.path as NSString).deletingLastPathComponent + ":" + path,
                "BELLWETHER_DATABASE_URL": url, "BELLWETHER_REPORT_DIRECTORY": reports.path,
                "BELLWETHER_REPORT_MARK": reports("mark"), "BELLWETHER_DELIVER": reports("places.json"),
            ])
        let isMade = eventually { FileManager.default.fileExists(atPath: reports("mark")) }
        #expect(isMade && night.isRunning, "\(night.messages)")
        let files = try FileManager.default.contentsOfDirectory(atPath: reports("shop"))
        #expect(Set(files.map { ($0 as NSString).pathExtension }) == ["txt", "md", "html", "json", "csv"])
        #expect(night.messages.contains("ana: 1 report delivered"), "\(night.messages)")
        night.signal(SIGTERM)
        #expect(try night.wait().status == 128 + SIGTERM)
    }

    /// The same script drops what is old, as the owner.
    private func expectRetention(_ url: String) throws {
        let marks = TemporaryDirectory()
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let night = try ChildProcess(
            ["bash", ProjectFolder.path + "/Examples/compose/nightly.sh", "retain"],
            environment: [
                "PATH": (Bellwether.path as NSString).deletingLastPathComponent + ":" + path,
                "BELLWETHER_DATABASE_URL": url, "BELLWETHER_RETAIN_DAYS": "1", "BELLWETHER_REPORT_MARK": marks("mark"),
            ])
        let isDone = eventually { FileManager.default.fileExists(atPath: marks("mark")) }
        #expect(isDone && night.isRunning, "\(night.messages)")
        night.signal(SIGTERM)
        #expect(try night.wait().status == 128 + SIGTERM)
    }

    private func run(_ file: String, on url: String) throws {
        let path = ProjectFolder.path + "/Examples/compose/" + file
        let ended = try ChildProcess.run(["psql", "-XqAt", "-f", path, url], environment: Self.passwords)
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(file): \(ended)")
    }
}
