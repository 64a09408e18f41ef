import Accounts
import EventLog
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("A database of one's own, by URL")
struct OwnDatabaseTests {
    @Test("the service waits for a database that is not migrated, and becomes ready by itself once it is")
    func unmigrated() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve(waitsUntilReady: false)
        let client = service.client()
        let told = try eventually {
            try client.get("/readyz").problem?.detail.contains("bellwether migrate") == true
        }
        #expect(told)
        #expect(try client.get("/readyz").status == 503)
        #expect(try client.get("/readyz")["retry-after"] != nil)
        #expect(try client.get("/healthz").status == 200)
        #expect(try client.post("{}", key: "bww_any").status == 503)
        #expect(try bellwether.run("app", "create", "shop").status != 0)
        #expect(try bellwether.run("migrate").status == 0)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        try service.waitUntilReady()
        #expect(try client.post(Wire.envelope(Wire.event()), key: key).results.accepted == 1)
        #expect(try service.stop() == 0)
    }

    @Test("a login that lacks the role of its work is told so, and not that the database is away")
    func refused() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let stranger = Bellwether(database: try database.url(as: TestPostgres.stranger))
        for (part, role) in [("ingest", "bellwether_ingest"), ("project", "bellwether_projector")] {
            let service = try stranger.serve("--only", part, waitsUntilReady: false)
            #expect(eventually { service.log.contains("the database refuses this login") }, "\(service.log)")
            #expect(service.log.contains("GRANT \(role) TO the login"))
            #expect(!service.log.contains("the database is away"), "\(service.log)")
            #expect(try service.client().get("/readyz").problem?.detail.contains("refuses the service's login") == true)
            #expect(try service.stop() == 0)
        }
    }

    @Test("two migrations at once and a third later end well, and apply everything once")
    func together() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let both = try (0..<2).map { _ in try bellwether.start(["migrate"]) }
        let ends = try both.map { try $0.wait() }
        #expect(ends.allSatisfy { $0.status == 0 }, "\(ends)")
        let first: [String] = try database.column("SELECT name FROM bellwether.migration ORDER BY 1")
        let third = try bellwether.run("migrate")
        #expect(third.status == 0 && third.messages.contains("is at this version"))
        #expect(try database.column("SELECT name FROM bellwether.migration ORDER BY 1") == first)
    }

    @Test("a new database gets the shards that are asked for, all of it works with them, and they never change")
    func shards() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        #expect(try bellwether.run("migrate", "--shards", "48").status == 64)
        #expect(try bellwether.run("migrate", "--shards", "64").status == 0)
        #expect(try bellwether.run("migrate").status == 0)
        let other = try bellwether.run("migrate", "--shards", "16")
        #expect(other.status == 1 && other.messages.contains("has 64 shards, and the number never changes"), "\(other)")
        let app = try database.makeApp()
        let events = (0..<300).map { _ in Event.sample(interaction: .opened(launch: .cold)) }
        let appender = try database.appender()
        for start in stride(from: 0, to: 300, by: 100) {
            let some = Array(events[start..<(start + 100)])
            #expect(try appender.append([app.submission(some)]) == [[Verdict](repeating: .accepted, count: 100)])
        }
        #expect(try bellwether.run("project", "--once").status == 0)
        #expect(try database.value("SELECT sum(opened)::bigint FROM analytics.category_funnel") == Int64(300))
        #expect(try database.value("SELECT count(DISTINCT shard) FROM projection.delivery", as: Int64.self) > 48)
        #expect(try bellwether.run("rebuild").status == 0)
        let install = events[7].source.installID
        #expect(try bellwether.run("erase", "--app", app.app.slug, "--install", "\(install)").status == 0)
        let verified = try bellwether.run("verify", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(verified.output.utf8)) as? [String: Any])
        #expect(verified.status == 0 && object["proved"] as? Bool == true)
        #expect((object["shards"] as? [[String: Int]])?.count == 64)
        #expect(try database.value("SELECT sum(opened)::bigint FROM analytics.category_funnel") == Int64(299))
    }

    @Test("a database that is newer than the program is left alone, and the service says so and is not ready")
    func newer() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        var connection = try database.connect()
        try connection.execute(
            script: """
                INSERT INTO bellwether.migration
                SELECT (jsonb_populate_record(m, '{"name": "9999_from_the_future"}')).*
                FROM bellwether.migration AS m LIMIT 1
                """)
        let refused = try bellwether.run("migrate")
        #expect(refused.status == 1 && refused.messages.contains("9999_from_the_future"), "\(refused)")
        let second = try bellwether.serve(waitsUntilReady: false)
        defer { _ = try? second.stop() }
        let told = try eventually {
            try second.client().get("/readyz").problem?.detail.contains("newer than this program") == true
        }
        #expect(told)
    }
}
