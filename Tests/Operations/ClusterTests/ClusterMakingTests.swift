import Accounts
import Clusters
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("From one database to many cells")
struct ClusterMakingTests {
    @Test("a database with events becomes the first cell as it is, and keeps all its shards")
    func first() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let events = (0..<20).map { _ in Event.sample(install: .random()) }
        _ = try appender.append([app.submission(events)], checking: [.keys, .place])
        var connection = try database.connect()
        let place = try ThreeCells.place(of: database)
        let map = try Cluster.create(name: "cell-1", place: place, on: &connection)
        #expect(map == (try Cluster.create(place: place, on: &connection)))
        #expect(map.holders == [Int16](repeating: 1, count: 16))
        #expect(throws: ClusterError.self) { try Cluster.create(name: "other", place: place, on: &connection) }
        // A writer from before goes on.
        let verdicts = try appender.append([app.submission(events + [Event.sample()])], checking: [.keys, .place])
        guard case .settled(let settled)? = verdicts.first else { throw CancellationError() }
        #expect(settled.exceptions.map(\.index) == Array(0..<20))
        #expect(appender.epoch == 1)
    }

    @Test(
        "an empty database becomes a cell: migrated, with the same shards, apps and keys, and without shards of its own"
    )
    func added() throws {
        let (first, second) = (try TestDatabase.make(.withUsualShards), try TestDatabase.make(.empty))
        defer { for database in [first, second] { database.drop() } }
        let app = try first.makeApp()
        let bellwether = try Bellwether(first)
        #expect(try bellwether.run("cluster", "add", try ThreeCells.place(of: second), "--name", "b").status == 1)
        try first.run(
            """
            INSERT INTO sends.fcm_row (event_at, app, event, message_key, instance_id)
            VALUES (now(), \(app.app.id), 'MESSAGE_ACCEPTED', '1', 'i')
            """)
        _ = try bellwether.trusted("cluster", "create", "--name", "a")
        _ = try bellwether.trusted("cluster", "add", try ThreeCells.place(of: second), "--name", "b")
        // Again, as after an interruption.
        _ = try bellwether.trusted("cluster", "add", try ThreeCells.place(of: second), "--name", "b")
        #expect(try second.value("SELECT id FROM log.app WHERE slug = 'chat'") == app.id)
        #expect(try second.value("SELECT id FROM log.api_key") == app.key.id)
        #expect(try second.value("SELECT count(*) FROM cluster.map WHERE cell = 1", as: Int64.self) == 16)
        #expect(try second.value("SELECT instance_id FROM sends.fcm_row", as: String.self) == "i")
        let status = try bellwether.trusted("cluster", "status")
        #expect(status.split(separator: "\n").count == 3)
        #expect(status.contains("there") && !status.contains("away"))
        #expect(try bellwether.trusted("cluster", "check") == "All cells agree.\n")
    }

    @Test("what is no empty database of the same kind is refused, and so is a password")
    func refused() throws {
        let cells = try ThreeCells()
        let (full, other, wide) = (
            try TestDatabase.make(.withUsualShards), try TestDatabase.make(.withUsualShards),
            try TestDatabase.make(.empty)
        )
        defer {
            cells.drop()
            for database in [full, other, wide] { database.drop() }
        }
        let app = try full.makeApp("theirs")
        _ = try full.appender().append([app.submission([Event.sample()])])
        var connection = try other.connect()
        _ = try Cluster.create(name: "elsewhere", place: try ThreeCells.place(of: other), on: &connection)
        #expect(try Bellwether(wide).run("migrate", "--shards", "32").status == 0)
        let cluster = try cells.cluster()
        func refusal(_ name: String, _ url: String) -> String? {
            do { _ = try cluster.add(name: name, url: url) } catch { return "\(error)" }
            return nil
        }
        #expect(refusal("d", try ThreeCells.place(of: full))?.contains("events of its own") == true)
        #expect(refusal("d", try ThreeCells.place(of: other))?.contains("another cluster") == true)
        #expect(refusal("d", try ThreeCells.place(of: wide))?.contains("32 shards") == true)
        #expect(refusal("cell-2", try ThreeCells.place(of: full))?.contains("choose another name") == true)
        #expect(refusal("d", try ThreeCells.place(of: cells.databases[1]))?.contains("the cell 'cell-2'") == true)
        #expect(refusal("D!", try ThreeCells.place(of: full))?.contains("cannot name a cell") == true)
        let secret = refusal("d", "postgresql://bellwether_owner:hunter2@/x")
        #expect(secret?.contains("no password") == true && secret?.contains("hunter2") == false)
        #expect(refusal("d", "postgresql://somebody@/x")?.contains("same name") == true)
        #expect(try cells.databases[0].value("SELECT epoch FROM cluster.state") == cells.map.epoch)
    }

    @Test("a map that reached only the first cells is carried to the others, and an older one changes nothing")
    func halfTold() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        var next = cells.map
        next.epoch += 1
        next.moves = [ClusterMap.Move(shard: 0, home: 1, other: 3, isArriving: true)]
        var first = try cells.databases[0].connect()
        #expect(try next.write(as: 1, on: &first))
        #expect(!(try cells.map.write(as: 1, on: &first)))
        // Somebody who begins in a cell that does not know it yet finds it, too.
        var last = try cells.databases[2].connect()
        let cluster = try #require(try Cluster(of: &last, url: try cells.databases[2].url(), log: .silent))
        let findings = try cluster.check()
        #expect(findings.map(\.cell) == ["cell-2", "cell-3"])
        #expect(findings.allSatisfy { $0.isMended })
        for database in cells.databases {
            #expect(try database.value("SELECT arriving FROM cluster.map WHERE shard = 0", as: Int16.self) == 3)
        }
        #expect(try cluster.check().isEmpty)
    }
}
