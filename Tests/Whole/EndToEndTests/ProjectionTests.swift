import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Projections beside the service, and alone")
struct ProjectionTests {
    private static let silent = Wire.event(
        type: "notification.received", notification: #"{"id":"q-1","campaign":"sync"}"#, more: #""via":"background""#)

    private func counts(_ database: TestDatabase) throws -> [String] {
        try database.analystRows("SELECT day, category, delivered, opened FROM category_funnel ORDER BY 1, 2")
    }

    @Test("project --once brings the funnels to the head, says so, and has nothing to do the next time")
    func once() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            for _ in 0..<3 { try shop.post(Wire.id(), Wire.event(), Wire.event()) }
            // Nobody projects here.
            #expect(try shop.database.analystRows("SELECT DISTINCT position, lag FROM projections") == ["(0,3)"])
            #expect(try counts(shop.database) == [])
            for _ in 0..<2 {
                let ended = try shop.bellwether.run("project", "--once")
                #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
                #expect(ended.messages == "The funnels are at batch 3 or later.\n")
                #expect(try shop.database.analystRows("SELECT DISTINCT position, lag FROM projections") == ["(3,0)"])
                #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,3,3)"])
            }
            #expect(try shop.bellwether.run("verify").status == 0)
        }
    }

    @Test("project --once beside a running service, twice at once, and on an empty log, ends well")
    func beside() throws {
        try ProjectedShop.open { shop in
            let empty = try shop.bellwether.run("project", "--once")
            #expect(empty.status == 0 && empty.messages == "The funnels are at batch 0 or later.\n", "\(empty)")
            for number in 1...4 {
                try shop.post(Wire.id(), Wire.event())
                let both = try (0..<2).map { _ in try shop.bellwether.start(["project", "--once", "--lanes", "3"]) }
                for child in both { #expect(try child.wait().status == 0) }
                #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,\(number),\(number))"])
            }
            try shop.expectProved()
        }
    }

    @Test("one process takes events in, another projects them; that one has no door for events, but health and metrics")
    func split() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            let projector = try shop.bellwether.serve("--only", "project")
            defer { _ = try? projector.stop() }
            try shop.post(Wire.id(), Wire.event())
            #expect(try shop.becomesLevel())
            #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,1,1)"])
            let client = projector.client()
            let refused = try client.post(Wire.envelope(Wire.event()), key: shop.app.secret)
            #expect(refused.status == 404 && refused.problem?.code == "unknown_path", "\(refused)")
            for path in ["/healthz", "/readyz"] { #expect(try client.get(path).status == 200, "\(path)") }
            let metrics = try Metrics(client.get("/metrics").body)
            #expect(metrics.value("bellwether_projected_events_total") == 1)
            #expect(metrics.value("bellwether_database_up") == 1)
            // Who projects nothing says nothing of lag: 0 would be a lie.
            let other = try Metrics(shop.service.client().get("/metrics").body)
            #expect(other.value("bellwether_projection_lag_batches") == nil)
            // Either goes on without the other.
            #expect(try projector.stop() == 0)
            try shop.post(Wire.id(), Wire.event())
            #expect(try shop.service.client().get("/readyz").status == 200)
            let second = try shop.bellwether.serve("--only", "project", "--lanes", "1")
            defer { _ = try? second.stop() }
            #expect(try shop.becomesLevel())
            #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,2,2)"])
        }
    }

    @Test("many lanes and one fold a backlog to the same numbers", arguments: ["1", "6"])
    func lanes(_ lanes: String) throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            // More than one lane takes on alone.
            for envelope in 0..<10 {
                let events = (0..<500).map { number in
                    Wire.event(
                        type: number % 2 == 0 ? "notification.opened" : "notification.dismissed",
                        notification: #"{"id":"n-\#(envelope % 4)","category":"C"}"#,
                        more: #""source":{"install_id":"8f2f6f0e-6a0c-4d3a-9a52-\#(100_000_000_000 + number)"}"#)
                }
                #expect(try shop.send(Wire.id(), events).accepted == 500)
            }
            let projector = try shop.bellwether.serve("--only", "project", "--lanes", lanes)
            defer { _ = try? projector.stop() }
            #expect(try shop.becomesLevel())
            #expect(try counts(shop.database) == ["(2026-11-20,C,2000,1000)"])
            let metrics = try Metrics(projector.client().get("/metrics").body)
            #expect(metrics.value("bellwether_projected_events_total") == 5_000)
            #expect(metrics.value("bellwether_projection_retries_total") == 0)
            try shop.expectProved()
        }
    }

    @Test("status and the metrics say how far the projections are, and that they are level soon after a post")
    func level() throws {
        try ProjectedShop.open { shop in
            try shop.post(Wire.id(), Wire.event(), Self.silent)
            #expect(try shop.becomesLevel())
            let text = try shop.bellwether.trusted("status")
            for name in ProjectionTables.projections {
                let line = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") } ?? ""
                let words = line.split(separator: " ")
                let version = "\(ProjectionTables.versions[name] ?? 0)"
                #expect(words.dropFirst() == [version[...], "1", "0", "0.0", "running"], "\(text)")
            }
            let status = try object(shop.bellwether.trusted("status", "--format", "json"))
            let projections = try #require(status["projections"] as? [[String: Any]])
            #expect(projections.count == ProjectionTables.projections.count && status["head"] as? Int == 1)
            for projection in projections {
                #expect(projection["lag"] as? Int == 0 && projection["position"] as? Int == 1, "\(projection)")
                #expect(projection["status"] as? String == "running" && projection["stopped_batch"] is NSNull)
            }
            let told = try eventually {
                let metrics = try Metrics(shop.service.client().get("/metrics").body)
                return metrics.value("bellwether_projection_lag_batches") == 0
                    && metrics.value("bellwether_projection_lag_seconds") == 0
                    && metrics.value("bellwether_projected_events_total") == 2
            }
            #expect(told)
        }
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("one that cannot go on stops alone, says at which batch and why everywhere, and resume brings it back")
    func stopped() throws {
        try ProjectedShop.open { shop in
            try shop.post(Wire.id(), Self.silent)
            #expect(try shop.becomesLevel())
            try shop.database.run(
                "ALTER TABLE projection.silent_funnel_1 ADD CONSTRAINT no_more CHECK (woken < 1) NOT VALID")
            for _ in 0..<2 { try shop.post(Wire.id(), Wire.event(), Self.silent) }
            let metric = #"bellwether_projection_stopped{projection="silent_funnel"} 2"#
            let told = try eventually { try shop.service.client().get("/metrics").body.contains(metric + "\n") }
            #expect(told)
            let once = try shop.bellwether.run("project", "--once")
            #expect(once.status == 1 && once.output.isEmpty, "\(once)")
            #expect(once.messages.hasPrefix("silent_funnel has stopped at batch 2: "), "\(once)")
            #expect(once.messages.contains("no_more"), "\(once)")
            #expect(once.messages.contains("bellwether projection resume silent_funnel\n"), "\(once)")

            // The others have all of it.
            #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,2,2)"])
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(1)"])
            #expect(
                try shop.database.analystRows(
                    "SELECT name, position, lag, stopped_batch FROM projections WHERE status = 'stopped'") == [
                        "(silent_funnel,1,2,2)"
                    ])
            #expect(
                try shop.bellwether.trusted("status").split(separator: "\n").contains { line in
                    line.hasPrefix("silent_funnel ") && line.contains("stopped at batch 2: ")
                        && line.contains("no_more")
                })
            let status = try object(shop.bellwether.trusted("status", "--format", "json"))
            let stopped = (status["projections"] as? [[String: Any]])?.filter { $0["status"] as? String == "stopped" }
            #expect(stopped?.map { $0["name"] as? String } == ["silent_funnel"])
            #expect(stopped?.first?["stopped_batch"] as? Int == 2)
            // What is not compared is not proved.
            let verified = try shop.bellwether.run("verify")
            #expect(
                verified.status == 1
                    && verified.output.contains("Not compared: silent_funnel, it is stopped at batch 2"))
            let retained = try shop.bellwether.run("retain", "--days", "400")
            #expect(retained.status == 1 && retained.messages.contains("bellwether projection resume silent_funnel"))

            let unknown = try shop.bellwether.run("projection", "resume", "silent_funnel", "silent")
            #expect(unknown.status == 1 && unknown.messages.contains("'silent'"), "\(unknown)")
            #expect(unknown.messages.contains("deliveries, category_funnel"), "\(unknown)")
            let resumed = try shop.bellwether.run("projection", "resume", "silent_funnel", "media_funnel")
            #expect(resumed.status == 0 && resumed.output.isEmpty, "\(resumed)")
            #expect(resumed.messages.contains("media_funnel is running; there is nothing to resume.\n"), "\(resumed)")
            #expect(resumed.messages.contains("proved, and live"), "\(resumed)")
            try shop.post(Wire.id(), Self.silent)
            #expect(try shop.becomesLevel())
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(4)"])
            let gone = try eventually { try !shop.service.client().get("/metrics").body.contains(metric) }
            #expect(gone)
            try shop.expectProved()
            #expect(try shop.tables() == ProjectionTables.ofOneGeneration)
            let again = try shop.bellwether.run("projection", "resume", "silent_funnel")
            #expect(again.status == 0 && again.messages == "silent_funnel is running; there is nothing to resume.\n")
        }
    }

    @Test("resume while the cause is still there says what stands in the way, and leaves everything as it was")
    func unmended() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try shop.database.run("ALTER TABLE projection.silent_funnel ADD CONSTRAINT no_more CHECK (woken < 1)")
            try shop.post(Wire.id(), Self.silent, Wire.event())
            #expect(try shop.bellwether.run("project", "--once").status == 1)
            for words in [["projection", "resume", "silent_funnel"], ["rebuild"]] {
                let ended = try shop.bellwether.start(words).wait()
                #expect(
                    ended.status == 1 && ended.messages.contains("silent_funnel has stopped at batch 1"), "\(ended)")
                #expect(
                    ended.messages.contains("no_more") && ended.messages.contains("The old tables are unchanged"),
                    "\(ended)")
                #expect(try shop.tables() == ProjectionTables.ofOneGeneration)
                #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,1,1)"])
            }
            try shop.database.run("ALTER TABLE projection.silent_funnel DROP CONSTRAINT no_more")
            #expect(try shop.bellwether.run("projection", "resume", "silent_funnel").status == 0)
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(1)"])
            try shop.expectProved()
        }
    }

    @Test("a batch that lacks an event stops all, since nobody could explain their numbers; rebuild brings them back")
    func gap() throws {
        try ProjectedShop.open { shop in
            try shop.post(Wire.id(), Wire.event())
            #expect(try shop.becomesLevel())
            #expect(try shop.service.stop() == 0)
            let ingest = try shop.bellwether.serve("--only", "ingest")
            let id = Wire.id()
            let envelope = Wire.envelope(Wire.event(id: id), Wire.event())
            #expect(try ingest.client().post(envelope, key: shop.app.secret).results.accepted == 2)
            #expect(try ingest.stop() == 0)
            try shop.database.run(
                """
                BEGIN;
                SELECT log.open_gate();
                CREATE TABLE lost AS SELECT * FROM log.event WHERE event_id = '\(id)';
                DELETE FROM log.event WHERE event_id = '\(id)';
                COMMIT
                """)
            let once = try shop.bellwether.run("project", "--once")
            #expect(once.status == 1 && once.output.isEmpty, "\(once)")
            #expect(
                once.messages.hasPrefix("All projections have stopped at batch 2: batch 2 has 1 events"), "\(once)")
            #expect(once.messages.hasSuffix("bellwether rebuild\n"), "\(once)")
            // What was right stays to be read.
            #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,1,1)"])
            let verified = try shop.bellwether.run("verify")
            #expect(verified.status == 1, "\(verified)")
            let unmended = try shop.bellwether.run("rebuild")
            #expect(unmended.status == 1 && unmended.messages.contains("batch 2 has 1 events"), "\(unmended)")
            #expect(try shop.tables() == ProjectionTables.ofOneGeneration)
            try shop.database.run("INSERT INTO log.event SELECT * FROM lost")
            #expect(try shop.bellwether.run("rebuild").status == 0)
            #expect(try counts(shop.database) == ["(2026-11-20,INFO_CATEGORY,2,2)"])
            try shop.expectProved()
        }
    }
}
