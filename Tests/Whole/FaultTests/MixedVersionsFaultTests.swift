import Foundation
import Postgres
import TestSupport
import Testing

/// `make test-postgres` runs it: it needs a PostgreSQL that is newer than Debian's.
@Suite(
    "A cluster of two versions of PostgreSQL",
    .enabled(if: Versions.present != nil, "only one version of PostgreSQL is installed"))
struct MixedVersionsFaultTests {
    private let scratch = TemporaryDirectory()

    @Test("moves shards from the old version to the new one and back, and a hub of either version reads both")
    func mixed() throws {
        var old = Bellwether(data: scratch("old"))
        old.runner = ["env", "BELLWETHER_POSTGRES_BIN=\(try #require(Versions.present).old)"]
        let new = Bellwether(data: scratch("new"))
        // Their databases run as long as somebody uses them.
        let projectors = [try old.serve("--only", "project"), try new.serve("--only", "project")]
        let cells = try [old, new].map { cell in try #require(cell.url) }
        let versions = try cells.map { url in
            var connection = try Connection(url: url)
            return try connection.query("SHOW server_version_num")[0].get(0, as: String.self).prefix(2)
        }
        #expect(versions[0] == "15" && versions[1] > "15", "\(versions)")
        let owner = Bellwether(database: cells[0])
        _ = try owner.trusted("cluster", "create", "--name", "old")
        _ = try owner.trusted("cluster", "add", cells[1], "--name", "new")
        let key = String(try owner.trusted("app", "create", "chat").dropLast())
        let hubs = try [old, new].map { cell in
            let superuser = try #require(cell.superuserURL)
            var administrator = try Connection(url: superuser)
            try administrator.execute(script: "CREATE DATABASE hub OWNER \(TestPostgres.owner)")
            func hub(_ url: String?) throws -> String { try #require(url).dropLast("bellwether".count) + "hub" }
            let url = try hub(cell.url)
            _ = try owner.trusted(
                "cluster", "add", url, "--name", cell.data == old.data ? "hub-old" : "hub-new", "--hub", "--superuser",
                hub(superuser))
            return url
        }

        let service = try owner.serve("--only", "ingest")
        let load = Load(on: service, key: key)
        #expect(load.isServed(20))
        for (target, shards) in [("new", 4..<16), ("old", 8..<12), ("new", 10..<12)] {
            let words = ["cluster", "move", "--to", target] + shards.flatMap { ["--shard", "\($0)"] }
            let moved = try owner.start(words).wait(within: 120)
            #expect(moved.status == 0, "\(moved)")
            #expect(load.isServed(20))
        }
        let count = try Laws.check(load, cells: cells)
        for url in hubs {
            var connection = try Connection(url: url)
            let row = try connection.query(
                "SELECT count(*) FROM analytics.events")[0]
            #expect(try row.get(0) == Int64(count.stored))
            let verified = try Bellwether(database: url).run("verify")
            #expect(verified.status == 0, "\(verified)")
        }
        #expect(try owner.run("cluster", "check").status == 0)
        #expect(try service.stop() == 0)
        for projector in projectors { #expect(try projector.stop() == 0) }
    }
}
