import BellwetherVersion
import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

@Suite("The service seen from outside")
struct ObservationTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    @Test("health, readiness and the interface's description need no key, and HEAD says the same without a body")
    func reading() throws {
        let client = shared.service.client()
        for (path, type) in [
            ("/healthz", "text/plain; charset=utf-8"), ("/readyz", "text/plain; charset=utf-8"),
            ("/openapi.yaml", "application/yaml"), ("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
        ] {
            let answer = try client.get(path)
            #expect(answer.status == 200 && answer["content-type"] == type && !answer.body.isEmpty, "\(path)")
            let head = try client.send("HEAD", path)
            #expect(head.status == 200 && head["content-type"] == type && head.body.isEmpty, "\(path)")
        }
        #expect(try client.get("/openapi.yaml").body.hasPrefix("openapi: 3.1"))
    }

    @Test("every line of the metrics parses, is explained first, and histograms are cumulative")
    func metrics() throws {
        let app = try shared.makeApp()
        #expect(try shared.post(Wire.envelope(Wire.event()), app).status == 200)
        let metrics = try Metrics(shared.service.client().get("/metrics").body)
        for name in [
            "bellwether_http_requests_total", "bellwether_events_total", "bellwether_ingest_request_seconds",
            "bellwether_commit_seconds", "bellwether_batch_events", "bellwether_queue_bytes", "bellwether_connections",
            "bellwether_database_up",
        ] { #expect(metrics.kinds[name] != nil, "\(name)") }
        for (name, kind) in metrics.kinds where kind == "histogram" {
            let counts = metrics.samples.filter { $0.name == name + "_count" }
            #expect(!counts.isEmpty)
            for count in counts {
                let before = count.labels.isEmpty ? "" : count.labels + ","
                let buckets = metrics.samples.filter {
                    $0.name == name + "_bucket" && $0.labels.hasPrefix(before + "le=")
                }
                #expect(buckets.count > 2 && buckets.last?.labels == before + #"le="+Inf""#)
                #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
                #expect(buckets.last?.value == count.value)
                #expect(metrics.value(name + "_sum", count.labels) != nil)
            }
        }
    }

    @Test("the table of metrics in Docs/API.md has exactly the metrics that there are, with their kinds and labels")
    func metricsTable() throws {
        let metrics = try Metrics(shared.service.client().get("/metrics").body)
        let rows = try ProjectFolder.text(of: "Docs/API.md").matches(
            of: /(?m)^\| `(bellwether_[a-z_]+)(?:\{([a-z]+)\})?` \| (counter|gauge|histogram) \|/)
        let told = Dictionary(rows.map { (String($0.1), String($0.3)) }) { first, _ in first }
        #expect(told.count == rows.count && told == metrics.kinds)
        for row in rows {
            let name = row.1 + (row.3 == "histogram" ? "_count" : "")
            for sample in metrics.samples where sample.name == name {
                #expect(sample.labels.split(separator: "=").first == row.2, "\(sample)")
            }
        }
    }

    @Test("the numbers move with what was done")
    func movement() throws {
        // A service of its own: others would count along.
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let client = service.client()
        let event = Wire.event()
        let envelope = Wire.envelope(event, event, "1", Wire.event())
        #expect(try client.post(envelope, key: app.secret).status == 200)
        #expect(try client.post("{", key: app.secret).status == 400)
        #expect(try client.post("{}", key: nil).status == 401)
        let metrics = try Metrics(client.get("/metrics").body)
        #expect(metrics.value("bellwether_events_total", #"result="accepted""#) == 2)
        #expect(metrics.value("bellwether_events_total", #"result="duplicate""#) == 1)
        #expect(metrics.value("bellwether_events_total", #"result="not_an_object""#) == 1)
        #expect(metrics.value("bellwether_http_requests_total", #"status="400""#) == 1)
        #expect(metrics.value("bellwether_http_requests_total", #"status="401""#) == 1)
        #expect(metrics.value("bellwether_ingest_request_seconds_count") == 1)
        #expect(metrics.value("bellwether_commit_seconds_count") == 1)
        for phase in ["wait", "words", "probe", "copy", "number", "commit"] {
            #expect(metrics.value("bellwether_commit_phase_seconds_count", "phase=\"\(phase)\"") == 1, "\(phase)")
        }
        // Each moment belongs to one phase, and there is no other.
        let phases = metrics.samples.filter { $0.name == "bellwether_commit_phase_seconds_sum" }
        let seconds = phases.filter { $0.labels != #"phase="wait""# }.reduce(0) { $0 + $1.value }
        #expect(seconds > 0 && seconds <= metrics.value("bellwether_commit_seconds_sum") ?? 0)
        #expect(metrics.value("bellwether_batch_events_sum") == 2)
        #expect(metrics.value("bellwether_database_up") == 1)
        #expect(metrics.value("bellwether_queue_bytes") == 0)
        #expect((metrics.value("bellwether_connections") ?? 0) >= 1)
    }

    @Test("a database that takes no new connection is away, though an old one still holds")
    func noNewConnections() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve("--only", "ingest")
        defer { _ = try? service.stop() }
        let client = service.client()
        func isUp() throws -> Bool { try Metrics(client.get("/metrics").body).value("bellwether_database_up") == 1 }
        #expect(try isUp())
        var administrator = try database.administrator()
        try administrator.execute(script: "ALTER DATABASE \(database.name) CONNECTION LIMIT 0")
        try administrator.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE '%writer%'
            """)
        // A writer that has nothing to do does not notice.
        let isAway = try eventually {
            _ = try client.post(Wire.envelope(Wire.event()), key: app.secret)
            return try !isUp()
        }
        #expect(isAway)
        let answer = try client.get("/readyz")
        #expect(answer.status == 503 && answer.body.contains("the log says why"), "\(answer)")
        try administrator.execute(script: "ALTER DATABASE \(database.name) CONNECTION LIMIT -1")
        let isBack = try eventually { try isUp() }
        #expect(isBack)
        #expect(try client.get("/readyz").status == 200)
    }

    @Test(
        "the last report of a finished day is told by its time, of the app where that is longest ago, and names no app")
    func lastReport() throws {
        try ProjectedShop.open("--only", "project") { shop in
            let client = shop.service.client()
            func told() throws -> Double? {
                try Metrics(client.get("/metrics").body).value("bellwether_last_report_timestamp_seconds")
            }
            #expect(try told() == 0)
            _ = try shop.database.makeApp("news")
            try shop.database.run(
                """
                INSERT INTO report.kept
                    (app, day, position, made_at, is_final, received_engaged, content, as_text, as_markdown, as_html,
                        as_json, as_csv)
                SELECT app, day::date, 1, made_at::timestamptz, is_final, 0, made_at, '', '', '', '', '' FROM (VALUES
                    ('shop', '2026-11-19', '2026-11-20 03:00:00+00', true),
                    ('shop', '2026-11-20', '2026-11-21 03:00:00+00', true),
                    ('shop', '2026-11-21', '2026-11-21 09:00:00+00', false),
                    -- An old day by hand says nothing of last night.
                    ('shop', '2026-11-01', '2026-11-21 10:00:00+00', true),
                    ('news', '2026-11-20', '2026-11-21 03:00:07+00', true)) AS k (app, day, made_at, is_final)
                """)
            let expected = Date.ISO8601FormatStyle().parseStrategy
            let night = try Date("2026-11-21T03:00:00Z", strategy: expected).timeIntervalSince1970
            let isTold = try eventually { try told() == night }
            #expect(isTold)
        }
    }

    @Test("the log is one JSON object a line, with time, level and message")
    func log() throws {
        let lines = shared.service.log.split(separator: "\n")
        #expect(lines.count > 2)
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["time"] is String && object["message"] is String, "\(line)")
            #expect(["debug", "info", "warning", "error"].contains(object["level"] as? String ?? ""), "\(line)")
        }
    }

    @Test("browsers may post from no origin, unless a flag names it")
    func crossOrigin() throws {
        let preflight = ["Origin": "https://app.example", "Access-Control-Request-Method": "POST"]
        let closed = try shared.service.client().send("OPTIONS", "/v1/events", headers: preflight)
        #expect(closed.status == 405 && closed["access-control-allow-origin"] == nil)

        let service = try shared.bellwether.serve("--cors-origin", "https://app.example")
        defer { _ = try? service.stop() }
        let client = service.client()
        let open = try client.send("OPTIONS", "/v1/events", headers: preflight)
        #expect(open.status == 204 && open["access-control-allow-origin"] == "https://app.example")
        #expect(open["access-control-allow-methods"]?.contains("POST") == true)
        #expect(open["access-control-allow-headers"]?.contains("Authorization") == true)
        let app = try shared.makeApp()
        for (origin, allowed) in [("https://app.example", "https://app.example"), ("https://evil.example", nil)] {
            let answer = try client.post(Wire.envelope(Wire.event()), key: app.secret, headers: ["Origin": origin])
            #expect(answer.status == 200 && answer["access-control-allow-origin"] == allowed)
            #expect(answer["vary"] == "Origin")
        }
    }

    @Test("metrics move to a door of their own, which carries health, too, and nothing else")
    func metricsDoor() throws {
        let service = try shared.bellwether.serve("--metrics-listen", "127.0.0.1:0")
        defer { _ = try? service.stop() }
        #expect(try service.client().get("/metrics").status == 404)
        let port = try #require(service.addresses.last?.split(separator: ":").last.flatMap { UInt16($0) })
        #expect(try HTTPClient(port: port).get("/metrics").body.contains("bellwether_database_up"))
        #expect(try HTTPClient(port: port).get("/healthz").body == "ok \(BellwetherVersion.number)\n")
        #expect(try HTTPClient(port: port).get("/readyz").body == "ready\n")
        #expect(try HTTPClient(port: port).get("/openapi.yaml").status == 404)
        #expect(try HTTPClient(port: port).post("{}", key: nil).status == 404)
    }

    @Test("it listens on a Unix socket, which is gone when it has stopped")
    func unixSocket() throws {
        let scratch = TemporaryDirectory()
        let service = try shared.bellwether.serve("--listen", scratch("door"))
        let app = try shared.makeApp()
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).results.accepted == 1)
        #expect(try service.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: scratch("door")))
    }

    @Test("it speaks TLS with the certificate that it is given, and refuses to start with a broken one")
    func tls() throws {
        let scratch = TemporaryDirectory()
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", scratch("key"), "-out",
            scratch("certificate"),
        ])
        #expect(made.status == 0, "\(made.messages)")
        let service = try shared.bellwether.serve(
            "--tls-certificate", scratch("certificate"), "--tls-key", scratch("key"), waitsUntilReady: false)
        defer { _ = try? service.stop() }
        let app = try shared.makeApp()
        let curl = try ChildProcess.run([
            "curl", "-sS", "--cacert", scratch("certificate"), "--retry", "20", "--retry-delay", "1", "--fail",
            "https://127.0.0.1:\(service.port)/v1/events", "-H", "Authorization: Bearer \(app.secret)", "-H",
            "Content-Type: application/json", "-d", Wire.envelope(Wire.event()),
        ])
        #expect(curl.output.hasPrefix(#"{"accepted":1,"#), "\(curl)")
        let broken = try shared.bellwether.run(
            "serve", "--listen", "127.0.0.1:0", "--tls-certificate", scratch("key"), "--tls-key", scratch("key"))
        #expect(broken.status == 1 && broken.messages.contains("cannot be used"), "\(broken)")
        #expect(!broken.messages.contains(".."), "\(broken)")
        // Before a database is made.
        for certificate in ["nowhere", "key"] {
            let early = try Bellwether(data: scratch("data")).run(
                "serve", "--tls-certificate", scratch(certificate), "--tls-key", scratch("key"))
            #expect(early.status == 1 && early.messages.contains("certificate \(scratch(certificate))"), "\(early)")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch("data")))
    }

    @Test("SIGHUP ends nobody: it has the certificate read anew, where there is one")
    func hangup() throws {
        let scratch = TemporaryDirectory()
        func make(_ name: String) throws {
            let made = try ChildProcess.run([
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-subj", "/CN=\(name)", "-keyout", scratch(name + ".key"), "-out", scratch(name + ".crt"),
            ])
            #expect(made.status == 0, "\(made.messages)")
        }
        try make("first")
        try make("second")
        let service = try shared.bellwether.serve(
            "--tls-certificate", scratch("first.crt"), "--tls-key", scratch("first.key"), waitsUntilReady: false)
        func served() throws -> String {
            try ChildProcess.run([
                "sh", "-c",
                "openssl s_client -connect 127.0.0.1:\(service.port) </dev/null 2>/dev/null | openssl x509 -noout -subject",
            ]).output
        }
        #expect(try eventually { try served().contains("first") })
        for kind in [".crt", ".key"] {
            #expect(rename(scratch("second" + kind), scratch("first" + kind)) == 0)
        }
        service.process.signal(SIGHUP)
        #expect(eventually { service.log.contains("SIGHUP: reloaded the certificate") })
        #expect(try served().contains("second"))
        #expect(try service.stop() == 0)

        let plain = try shared.bellwether.serve()
        plain.process.signal(SIGHUP)
        #expect(eventually { plain.log.contains("SIGHUP: there is no certificate to reload") })
        #expect(try plain.client().get("/healthz").status == 200)
        #expect(try plain.stop() == 0)
    }

    @Test("an address that is taken is named, and the service ends with 1")
    func taken() throws {
        let address = "127.0.0.1:\(shared.service.port)"
        let second = try shared.bellwether.run("serve", "--listen", address)
        #expect(second.status == 1 && second.messages.contains(address), "\(second)")
    }
}
