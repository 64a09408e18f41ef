import EmbeddedPostgres
import Foundation
import Glibc
import Postgres
import ProjectFolder
import TestSupport
import Testing

/// `Examples/cluster` as its compose file puts it together, without an engine: its scripts on four servers that ask for
/// passwords, its services with their own logins, and its balancer.
@Suite("The example of a cluster") struct ClusterExampleTests {
    private static let examples = ProjectFolder.path + "/Examples"
    private static let passwords = [
        "BELLWETHER_OWNER_PASSWORD": #"it's "$HOME" \ 100%"#, "BELLWETHER_INGEST_PASSWORD": "ingest",
        "BELLWETHER_PROJECT_PASSWORD": "project", "BELLWETHER_REPORT_PASSWORD": "report",
        "BELLWETHER_LOOK_PASSWORD": "look",
    ]
    private static let names = ["cell-1", "cell-2", "cell-3", "hub"]

    /// The servers of `names`.
    private struct Servers {
        var servers: [EmbeddedServer] = []

        func remove() { for server in servers { TestPostgres.remove(server) } }

        /// Where a server is, as the example's URLs say it: before the database.
        func address(_ place: Int) -> String {
            let url = servers[place].connectionURL(database: "", user: "x")
            return url.firstMatch(of: /host=([^&]+)&port=(\d+)/).map { "\($0.1):\($0.2)" } ?? ""
        }

        func url(_ place: Int, _ user: String? = nil) -> String {
            "postgresql://\(user.map { $0 + "@" } ?? "")\(address(place))/bellwether"
        }

        /// The program with a login of the compose file.
        func bellwether(_ place: Int, _ login: String, _ password: String) -> Bellwether {
            Bellwether(database: url(place, login)).knowing([
                "PGPASSWORD": ClusterExampleTests.passwords["BELLWETHER_\(password)_PASSWORD"] ?? ""
            ])
        }
    }

    /// Four servers with what the compose file lets them do when they are new.
    private func makeServers() throws -> Servers {
        var made = Servers()
        do {
            for (place, name) in Self.names.enumerated() {
                let server = try TestPostgres.separate()
                made.servers.append(server)
                for file in ["compose/owner.sql"] + (name == "hub" ? ["cluster/hub.sql"] : []) {
                    let words = [
                        "psql", "-XqAt", "-f", "\(Self.examples)/\(file)", server.connectionURL(database: "postgres"),
                    ]
                    let ended = try ChildProcess.run(words, environment: Self.passwords)
                    #expect(ended.status == 0 && ended.messages.isEmpty, "\(file) in \(Self.names[place]): \(ended)")
                }
                let access = server.dataDirectory + "/pg/data/pg_hba.conf"
                let own = try String(contentsOfFile: access, encoding: .utf8)
                try (own.replacing("local all all", with: "local all postgres") + "local all all scram-sha-256\n")
                    .write(toFile: access, atomically: false, encoding: .utf8)
                var administrator = try Connection(url: server.connectionURL(database: "postgres"))
                try administrator.query("SELECT pg_reload_conf()")
            }
        } catch {
            made.remove()
            throw error
        }
        return made
    }

    /// Runs `setup.sh` with the variables of the compose file.
    private func setUp(_ servers: Servers) throws -> ChildProcess.Ended {
        let program = (Bellwether.path as NSString).deletingLastPathComponent
        return try ChildProcess.run(
            ["bash", Self.examples + "/cluster/setup.sh"],
            environment: [
                "PATH": program + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
                "PGPASSWORD": Self.passwords["BELLWETHER_OWNER_PASSWORD"] ?? "",
                "BELLWETHER_DATABASE_URL": servers.url(0, "bellwether_owner"),
                "BELLWETHER_CELLS": (0..<3).map { servers.url($0) }.joined(separator: " "),
                "BELLWETHER_HUB": servers.url(3),
            ])
    }

    /// Runs `logins.sh` as the container has it, with its SQL beside it.
    private func makeLogins(_ servers: Servers) throws {
        let folder = TemporaryDirectory()
        for file in ["cluster/logins.sh", "compose/logins.sql"] {
            try FileManager.default.copyItem(
                atPath: "\(Self.examples)/\(file)", toPath: folder((file as NSString).lastPathComponent))
        }
        let ended = try ChildProcess.run(
            ["bash", folder("logins.sh")],
            environment: Self.passwords.merging(
                [
                    "PGPASSWORD": Self.passwords["BELLWETHER_OWNER_PASSWORD"] ?? "",
                    "BELLWETHER_DATABASES": (0..<4).map(servers.address).joined(separator: " "),
                ], uniquingKeysWith: { $1 }))
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
    }

    /// The events in each cell.
    private func events(_ servers: Servers) throws -> [Int64] {
        try servers.servers.dropLast().map { server in
            var administrator = try Connection(url: server.connectionURL(database: "bellwether"))
            return try administrator.query("SELECT coalesce(sum(events), 0)::bigint FROM log.batch")[0].get(0)
        }
    }

    @Test(
        "makes a cluster whose events come in by a balancer, one of two processes or the other, and whose hub counts them all"
    )
    func example() throws {
        let servers = try makeServers()
        defer { servers.remove() }
        let made = try setUp(servers)
        #expect(made.status == 0, "\(made)")
        try makeLogins(servers)
        let owner = servers.bellwether(3, "bellwether_owner", "OWNER")
        let shards = try owner.trusted("cluster", "status", "--format", "json").matches(of: /"shards":(\d+)/).map(
            \.output.1)
        #expect(shards == ["5", "5", "6", "0"])
        let key = String(try owner.trusted("app", "create", "shop").dropLast())
        _ = try owner.trusted("look", "key", "add", "growth")

        var ingest = try (0..<2).map { place in
            try servers.bellwether(place, "bellwether_ingest_service", "INGEST").serve("--only", "ingest")
        }
        let folder = TemporaryDirectory()
        let balancer = try ChildProcess(
            ["/usr/sbin/haproxy", "-f", Self.examples + "/cluster/haproxy.cfg"],
            environment: [
                "BALANCER": "unix@" + folder("balancer"), "INGEST_1": "127.0.0.1:\(ingest[0].port)",
                "INGEST_2": "127.0.0.1:\(ingest[1].port)",
            ])
        defer { balancer.signal(SIGKILL) }
        let client = HTTPClient(path: folder("balancer"))
        let isOpen = eventually { (try? client.get("/openapi.yaml").status) == 200 }
        #expect(isOpen, "\(balancer.messages)")
        for door in ["/metrics", "/healthz", "/readyz"] { #expect(try client.get(door).status == 404, "\(door)") }
        for _ in 0..<40 {
            #expect(try client.post(Wire.envelope(install: Wire.id(), Wire.event()), key: key).status == 200)
        }
        // While one stops, an app posts again what got no answer, and then nobody notices that it is away.
        #expect(try ingest.removeFirst().stop() == 0)
        for _ in 0..<40 {
            let envelope = Wire.envelope(install: Wire.id(), Wire.event())
            #expect(eventually { (try? client.post(envelope, key: key).status) == 200 })
        }
        let stored = try events(servers)
        #expect(stored.reduce(0, +) == 80 && stored.allSatisfy { $0 > 0 }, "\(stored)")

        let projectors = try (0..<3).map { place in
            try servers.bellwether(place, "bellwether_project_service", "PROJECT").serve("--only", "project")
        }
        var hub = try Connection(url: servers.servers[3].connectionURL(database: "bellwether"))
        try hub.execute(script: "SET ROLE bellwether_owner")
        let isCounted = try eventually {
            let rows = try hub.query("SELECT delivered FROM analytics.category_funnel WHERE app = 'shop'")
            return try rows.first?.get(0) == Int64(80)
        }
        #expect(isCounted, "\(projectors.map(\.log))")
        let reports = folder("reports")
        let night = try servers.bellwether(3, "bellwether_report_service", "REPORT")
            .run("report", "--all-apps", "--output-dir", reports, "--wait", "1m")
        #expect(night.status == 0 && FileManager.default.fileExists(atPath: reports + "/shop"), "\(night)")
        let pages = try servers.bellwether(3, "bellwether_look_service", "LOOK").start([
            "look", "--listen", "127.0.0.1:0",
        ])
        #expect(eventually { pages.messages.contains("\"looking\"") || !pages.isRunning })
        #expect(pages.isRunning, "\(pages.messages)")
        pages.signal(SIGTERM)
        #expect(try pages.wait().status == 0)

        // At the next start it changes nothing.
        let again = try setUp(servers)
        #expect(again.status == 0 && !again.output.contains("moved"), "\(again)")
        #expect(try owner.trusted("cluster", "status").contains("there"))

        // Another password, everywhere: the hub gets it by being added again.
        hub.rollBack()
        for server in servers.servers {
            var administrator = try Connection(url: server.connectionURL(database: "bellwether"))
            try administrator.execute(script: "ALTER ROLE bellwether_owner PASSWORD 'another'")
        }
        let renewed = Bellwether(database: servers.url(0, "bellwether_owner")).knowing(["PGPASSWORD": "another"])
        let count = "SELECT count(*) FROM analytics.events"
        let hubByRenewed = Bellwether(database: servers.url(3, "bellwether_owner")).knowing(["PGPASSWORD": "another"])
        #expect(try hubByRenewed.run("psql", "--", "-XAtc", count).status != 0)
        _ = try renewed.trusted("cluster", "add", "--hub", "--name", "hub", servers.url(3))
        #expect(try hubByRenewed.trusted("psql", "--", "-XAtc", count) == "80\n")
        for service in ingest + projectors { #expect(try service.stop() == 0) }
    }
}
