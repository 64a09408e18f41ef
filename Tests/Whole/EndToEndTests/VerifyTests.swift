import EventLog
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Verifying from the command line")
struct VerifyTests {
    /// A database whose deliveries say what the log does not.
    private func makeSpoilt() throws -> TestDatabase {
        let database = try TestDatabase.make()
        let app = try database.makeApp()
        // Two installs whose shards differ, so that each has cells of its own.
        let one = Values.UUID.random()
        var other = Values.UUID.random()
        while Shard.of(other, among: TestDatabase.shards) == Shard.of(one, among: TestDatabase.shards) {
            other = Values.UUID.random()
        }
        _ = try database.appender().append([
            app.submission([Event.sample(install: one), Event.sample(install: other)])
        ])
        var connection = try database.connect()
        try connection.execute(script: "UPDATE projection.progress SET position = 1")
        return database
    }

    @Test("what is proved ends with 0 and says so, as text and as JSON, with nothing on standard error")
    func proved() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let text = try bellwether.run("verify")
        #expect(text.status == 0 && text.messages.isEmpty)
        #expect(text.output.hasSuffix("Verified: every cell matches the log.\n"))
        let json = try bellwether.run("verify", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(json.status == 0 && object["proved"] as? Bool == true)
        #expect((object["shards"] as? [[String: Int]])?.count == Int(TestDatabase.shards))
    }

    @Test("what differs ends with 1, and the cells are told with the deliveries behind them")
    func differs() throws {
        let database = try makeSpoilt()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let text = try bellwether.run("verify")
        #expect(text.status == 1 && text.messages.isEmpty)
        #expect(text.output.contains("category_funnel: app chat, day 2026-11-20, category INFO_CATEGORY (shard "))
        #expect(text.output.contains("  is missing; recounted: delivered 1, expanded 1, unanswered 1\n"))
        #expect(text.output.contains("  behind it: delivery req-1 on install "))
        let json = try bellwether.run("verify", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(json.status == 1 && object["proved"] as? Bool == false)
        let differing = try #require(object["differing_cells"] as? [String: Int])
        #expect(differing["delivery"] == 2 && differing["category_funnel"] == 2)
        let differences = try #require(object["differences"] as? [[String: Any]])
        #expect((differences.first?["key"] as? [String: String])?["app"] == "chat")
        #expect((differences.first?["deliveries"] as? [[String: Any]])?.first?["differs"] as? Bool == true)
    }

    @Test("the days from one on are verified alone, and which day that is can be said in several ways")
    func since() throws {
        let database = try makeSpoilt()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let spoilt = try bellwether.run("verify", "--since", "2026-11-20")
        #expect(spoilt.status == 1 && spoilt.output.contains("category_funnel: app chat, day 2026-11-20"), "\(spoilt)")
        // What differs is earlier, or will have been.
        let proved = try bellwether.run("verify", "--since", "2026-11-21")
        #expect(proved.status == 0 && proved.messages.isEmpty, "\(proved)")
        #expect(proved.output.hasSuffix("Verified: every cell of the days from 2026-11-21 on matches the log.\n"))
        for day in ["today", "yesterday", "0d", "30d"] {
            let ended = try bellwether.run("verify", "--since", day, "--format", "json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
            #expect((object["since"] as? String)?.count == 10, "\(day): \(ended)")
        }
        for day in ["2026-11-31", "tomorrow", "-3d", "2026-W47", ""] {
            #expect(try bellwether.run("verify", "--since", day).status == 64, "\(day)")
        }
    }

    @Test("a sample is one shard, and which one is said")
    func sample() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let ended = try Bellwether(database).run("verify", "--sample", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
        let shards = try #require(object["shards"] as? [[String: Int]])
        #expect(ended.status == 0 && shards.count == 1)
        #expect(ended.messages == "Checking only shard \(shards[0]["shard"] ?? -1).\n")
    }
}
