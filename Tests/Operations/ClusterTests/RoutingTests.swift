import CatalogueSupport
import Clusters
import EventLog
import Glibc
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A service in front of three cells")
struct RoutingTests {
    @Test("each event goes to the cell of its install, one request may reach all cells, and a retry is a duplicate")
    func routed() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let service = try Bellwether(cells.databases[1]).serve("--only", "ingest")
        let (client, key) = (service.client(), cells.app.secret)
        let installs = (0..<3).flatMap { place in (0..<4).map { _ in cells.install(of: place) } }
        for install in installs {
            let answer = try client.post(Wire.envelope(install: install, Wire.event()), key: key)
            #expect(answer.status == 200 && answer.body.contains("\"accepted\":1"), "\(answer)")
        }
        // All of them in one envelope, with an event that cannot be stored.
        let events = installs.map { install in
            Wire.event(more: #""source":{"install_id":"\#(install)","platform":"ios"}"#)
        }
        let mixed = #"{"events":[\#(events.joined(separator: ",")),{"id":"x"}]}"#
        let once = try client.post(mixed, key: key)
        #expect(once.status == 200 && once.body.contains("\"accepted\":12,\"duplicate\":0,\"rejected\":1"), "\(once)")
        let dry = try client.send(
            "POST", "/v1/events?dry_run=true",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(key)"], body: Array(mixed.utf8))
        #expect(dry.body.contains("\"duplicate\":12"), "\(dry)")
        let again = try client.post(mixed, key: key)
        #expect(again.body.contains("\"accepted\":0,\"duplicate\":12,\"rejected\":1"), "\(again)")
        #expect(try cells.installs() == (0..<3).map { installs[($0 * 4)..<($0 * 4 + 4)].sorted() })
        let metrics = try client.get("/metrics").body
        #expect(metrics.contains("bellwether_cell_up{cell=\"cell-3\"} 1"))
        #expect(try service.stop() == 0)
    }

    @Test("a writer that knows of nothing that its cell takes asks again when it is sent something")
    func returned() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let appender = try cells.databases[0].appender()
        var connection = try cells.databases[0].connect()
        // Taken from this cell, and given back.
        for isHere in [true, false, true, false, true] {
            let map = try #require(try ClusterMap.read(on: &connection))
            let next = map.next(map.shards, takenBy: map.cells[isHere ? 0 : 1].number, nil)
            #expect(try next.write(as: map.own, knowing: map.shards, on: &connection))
            let event = Event.sample()
            for _ in 0..<2 {
                let settlement = try appender.append(
                    [cells.app.submission([event])], checking: [.keys, .place])[0]
                switch settlement {
                case .settled: #expect(isHere)
                case .elsewhere: #expect(!isHere)
                case .keyClosed: Issue.record("no key was closed")
                }
            }
        }
    }

    @Test("sends and categories that a server posts are in all cells when it has its answer")
    func shared() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let secret = try Bellwether(cells.databases[0]).trusted("app", "key", "add", "chat", "--server").dropLast()
        let service = try Bellwether(cells.databases[1]).serve("--only", "ingest")
        func send(_ method: String, _ path: String, _ body: String) throws -> RawClient.Answer {
            try service.client().send(
                method, path, headers: ["Content-Type": "application/json", "Authorization": "Bearer \(secret)"],
                body: Array(body.utf8))
        }
        let sends = #"{"sends":[{"id":"s1","message_ids":["m1"],"campaign":"c"},{"id":"s2","campaign":"d"}]}"#
        #expect(try send("POST", "/v1/sends", sends).body.contains("\"accepted\":2"))
        let categories =
            #"{"categories":[{"id":"INVITE","actions":[{"id":"YES","titles":{"en":"Yes"},"answer":"accept"}]}]}"#
        let registered = try send("PUT", "/v1/categories", categories)
        #expect(registered.status == 200, "\(registered)")
        for database in cells.databases {
            #expect(try database.column("SELECT number || id FROM sends.send ORDER BY id", of: String.self).count == 2)
            #expect(try database.value("SELECT action_id FROM registry.button", as: String.self) == "YES")
        }
        #expect(try cells.cluster().check().isEmpty)
        // A cell that is away must have them too before anybody is told so.
        try cells.close(2)
        #expect(
            try eventually { try send("POST", "/v1/sends", #"{"sends":[{"id":"s3"}]}"#).status == 503 })
        try cells.open(2)
        #expect(
            try eventually { try send("POST", "/v1/sends", #"{"sends":[{"id":"s3"}]}"#).status == 200 })
        #expect(try cells.cluster().check().isEmpty)
        #expect(try service.stop() == 0)
    }

    @Test("a cell that is away costs its own installs a 503, and nobody else anything; its keys are found elsewhere")
    func away() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        let (client, key) = (service.client(), cells.app.secret)
        let installs = (0..<3).map(cells.install)
        func post(_ place: Int) throws -> RawClient.Answer {
            try client.post(Wire.envelope(install: installs[place], Wire.event()), key: key)
        }
        // The cell that the service was started with, too: another one has the keys.
        for gone in [2, 0] {
            try cells.close(gone)
            #expect(try eventually { try post(gone).status == 503 })
            let refused = try post(gone)
            #expect(refused.status == 503 && refused["retry-after"] != nil, "\(refused)")
            for place in 0..<3 where place != gone {
                // The keys may have to be asked for elsewhere first.
                #expect(try eventually { try post(place).status == 200 })
                for _ in 0..<20 { #expect(try post(place).status == 200) }
            }
            #expect(try client.get("/readyz").status == 200)
            #expect(try client.get("/metrics").body.contains("bellwether_cell_up{cell=\"cell-\(gone + 1)\"} 0"))
            try cells.open(gone)
            #expect(try eventually { try post(gone).status == 200 })
        }
        #expect(try cells.installs() == installs.map { [$0] })
        #expect(try service.stop() == 0)
    }

    @Test("a process finds a map that its own cell does not have yet, and a revoked key is refused for every cell")
    func newsFromElsewhere() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        let (client, key) = (service.client(), cells.app.secret)
        let installs = (0..<3).map(cells.install)
        func post(_ install: String) throws -> RawClient.Answer {
            try client.post(Wire.envelope(install: install, Wire.event()), key: key)
        }
        for install in installs[...1] { #expect(try post(install).status == 200) }
        let shard = Shard.of(try #require(UUID(installs[1])), among: 16)
        let begun = cells.map.next([shard], takenBy: 2, (home: 2, other: 3, isArriving: true))
        let next = begun.next([shard], takenBy: 3, (home: 2, other: 3, isArriving: true))
        for (place, database) in cells.databases.enumerated() {
            var connection = try database.connect()
            for map in place == 0 ? [begun] : [begun, next] {
                #expect(try map.write(as: Int16(place + 1), knowing: [shard], on: &connection))
            }
        }
        #expect(try post(installs[1]).status == 503)
        #expect(try eventually { try post(installs[1]).status == 200 })
        #expect(try cells.installs()[2] == [installs[1]])
        #expect(try cells.cluster().check().map(\.cell) == ["cell-1"])
        _ = try Bellwether(cells.databases[2]).trusted("app", "key", "revoke", "chat", "write")
        #expect(try eventually { try installs.allSatisfy { try post($0).status == 403 } })
        #expect(try service.stop() == 0)
    }

    @Test(
        "whatever a stopped process was about to do, it stores nothing where an event no longer belongs",
        arguments: ["decoded", "queued", "named", "begun", "copied", "numbering"])
    func oldMap(_ point: String) throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let install = cells.install(of: 1)
        let shard = Shard.of(try #require(UUID(install)), among: 16)
        let service = try Bellwether(cells.databases[0]).stopping(at: point).serve("--only", "ingest")
        let (client, key) = (service.client(), cells.app.secret)
        let envelope = Wire.envelope(install: install, Wire.event())
        let waiting = try RawClient(port: service.port)
        waiting.send(
            "POST /v1/events HTTP/1.1\r\nHost: bellwether\r\nContent-Type: application/json\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Length: \(envelope.utf8.count)\r\n\r\n\(envelope)")
        #expect(eventually { service.process.isStopped })
        #expect(try cells.cluster().move([shard], to: "cell-3").isEmpty)
        service.process.signal(SIGCONT)
        let answer = try waiting.answer(within: 30)
        // When it has only been decoded, the process may read the new map first.
        let isStored = point == "decoded" && answer.status == 200
        #expect(isStored || answer.status == 503 && answer["retry-after"] == "1", "\(answer)")
        // The process reads the new map, and the same envelope is stored where it belongs now.
        let word = isStored ? "duplicate" : "accepted"
        #expect(try eventually { try client.post(envelope, key: key).body.contains("\"\(word)\":1") })
        #expect(try cells.installs() == [[], [], [install]])
        #expect(try service.stop() == 0)
    }

    @Test("a hub gets sends soon, also those that it missed, and nobody waits for it")
    func hubFed() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let secret = try Bellwether(cells.databases[0]).trusted("app", "key", "add", "chat", "--server").dropLast()
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        func send(_ id: String) throws {
            let answer = try service.client().send(
                "POST", "/v1/sends",
                headers: ["Content-Type": "application/json", "Authorization": "Bearer \(secret)"],
                body: Array(#"{"sends":[{"id":"\#(id)"}]}"#.utf8))
            #expect(answer.status == 200, "\(answer)")
        }
        func isThere(_ count: Int64) throws -> Bool {
            try eventually { try hub.value("SELECT count(*) FROM sends.send", as: Int64.self) == count }
        }
        try send("s1")
        #expect(try isThere(1))
        try hub.close()
        try send("s2")
        try hub.open()
        #expect(try isThere(2))
        try send("s3")
        #expect(try isThere(3))
        #expect(try service.stop() == 0)
    }

    @Test("a send that comes while a cluster is made, or a cell added, is in all cells when it has its answer")
    func growing() throws {
        let (first, second) = (try TestDatabase.make(.withUsualShards), try TestDatabase.make(.empty))
        defer { for database in [first, second] { database.drop() } }
        let app = try first.makeApp()
        let bellwether = try Bellwether(first)
        let secret = try bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast()
        // No event ever tells it of a map.
        let service = try bellwether.serve("--only", "ingest")
        func send(_ id: String) throws {
            let isStored = try eventually {
                let answer = try service.client().send(
                    "POST", "/v1/sends",
                    headers: ["Content-Type": "application/json", "Authorization": "Bearer \(secret)"],
                    body: Array(#"{"sends":[{"id":"\#(id)"}]}"#.utf8))
                #expect([200, 503].contains(answer.status), "\(answer)")
                return answer.status == 200
            }
            #expect(isStored)
        }
        try send("s1")
        _ = try bellwether.trusted("cluster", "create", "--name", "cell-1")
        let add = try bellwether.stopping(at: "cell told").start([
            "cluster", "add", try ThreeCells.place(of: second), "--name", "cell-2",
        ])
        #expect(eventually { add.isStopped })
        // By somebody who did not know of the new cell.
        try first.run("INSERT INTO log.app (slug, time_zone) VALUES ('late', 'UTC')")
        try send("s2")
        add.signal(SIGCONT)
        #expect(try add.wait().status == 0)
        #expect(try second.column("SELECT id FROM sends.send ORDER BY id", of: String.self) == ["s1", "s2"])
        #expect(try second.value("SELECT count(*) FROM log.app", as: Int64.self) == 2)
        #expect(try bellwether.trusted("cluster", "check") == "All cells agree.\n")
        #expect(try service.stop() == 0)
    }

    @Test("a process watches its own cell, and asks another one while nobody takes a shard")
    func watched() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        let watching: Statement =
            "SELECT datname::text FROM pg_stat_activity WHERE application_name = 'bellwether cluster map' AND datname LIKE 'test%'"
        #expect(
            try eventually { try cells.databases[0].column(watching, of: String.self) == [cells.databases[0].name] })
        let shard = Shard.of(try #require(UUID(cells.install(of: 0))), among: 16)
        let post = { (install: String) in
            try service.client().post(Wire.envelope(install: install, Wire.event()), key: cells.app.secret)
        }
        var install = cells.install(of: 0)
        while try Shard.of(#require(UUID(install)), among: 16) != shard { install = cells.install(of: 0) }
        var map = try cells.cluster().map.next([shard], takenBy: 0, (1, 2, true))
        for (place, database) in cells.databases.enumerated() {
            var connection = try database.connect()
            try map.write(as: Int16(place + 1), knowing: map.shards, on: &connection)
        }
        #expect(try eventually { try post(install).status == 503 })
        // Its own cell never hears of it, nor does the hub.
        map = map.next([shard], takenBy: 2, (1, 2, true))
        var connection = try cells.databases[1].connect()
        try map.write(as: 2, knowing: map.shards, on: &connection)
        #expect(try eventually { try post(install).status == 200 })
        #expect(try service.stop() == 0)
    }

    @Test("a process whose own cell has left the cluster knows new keys, and is ready without that cell")
    func ownCellGone() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[0])
        let service = try Bellwether(cells.databases[2]).serve("--only", "ingest")
        let shards = (12..<16).flatMap { ["--shard", "\($0)"] }
        #expect(try bellwether.start(["cluster", "move", "--to", "cell-1"] + shards).wait().status == 0)
        _ = try bellwether.trusted("cluster", "remove", "cell-3")
        let key = String(try bellwether.trusted("app", "create", "later").dropLast())
        #expect(
            try eventually {
                try service.client().post(Wire.envelope(Wire.event()), key: key).status == 200
            })
        try cells.close(2)
        #expect(try eventually { try service.client().get("/readyz").status == 200 })
        let other = String(try bellwether.trusted("app", "create", "latest").dropLast())
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: other).status == 200)
        try cells.open(2)
        #expect(try service.stop() == 0)
    }
}
