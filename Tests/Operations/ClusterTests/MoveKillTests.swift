import Accounts
import CatalogueSupport
import Clusters
import Envelopes
import EventLog
import Foundation
import Glibc
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A move that is killed anywhere, while events come in")
struct MoveKillTests {
    typealias UUID = Values.UUID

    /// Posts events of some installs without end, each until it is stored.
    private final class Poster: Sendable {
        private let worker: Worker
        private let state = Lock((stopping: false, stored: [String](), refusals: 0, failure: String?.none))

        init(_ service: RunningService, key: String, installs: [String]) {
            let state = self.state
            worker = Worker(name: "poster") {
                let client = service.client()
                var number = 0
                while !state.withLock({ $0.stopping }) {
                    number += 1
                    let id = Wire.id()
                    let envelope = Wire.envelope(install: installs[number % installs.count], Wire.event(id: id))
                    var isStored = false
                    while !isStored {
                        do {
                            let answer = try client.post(envelope, key: key)
                            guard [200, 503].contains(answer.status) else {
                                return state.withLock { $0.failure = "\(answer)" }
                            }
                            isStored = answer.status == 200
                            if !isStored { state.withLock { $0.refusals += 1 } }
                        } catch { return state.withLock { $0.failure = "\(error)" } }
                    }
                    state.withLock { $0.stored.append(id) }
                }
            }
        }

        var count: Int { state.withLock { $0.stored.count } }
        var refusals: Int { state.withLock { $0.refusals } }

        /// The ids of what was stored.
        func stop() throws -> [String] {
            state.withLock { $0.stopping = true }
            worker.join()
            let (stored, failure) = state.withLock { ($0.stored, $0.failure) }
            #expect(failure == nil)
            return stored
        }
    }

    /// `make fault` tries all of them.
    private static let points =
        ["batches copied", "shards let go", "copy shown", "events forgotten"]
        + (ProcessInfo.processInfo.environment["BELLWETHER_FAULT_SECONDS"] == nil
            ? []
            : [
                "move begun", "arrival prepared", "rest copied", "shards switched", "copy proved", "shards forgotten",
                "map told to the first cell",
            ])

    @Test(
        "goes on: each acknowledged event is stored once in the cluster, and the hub counts it once", arguments: points)
    func goesOn(_ point: String) throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let installs = (0..<3).map { _ in cells.install(of: 0) }
        let shards = Set(installs.compactMap { UUID($0) }.map { Shard.of($0, among: 16) })
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        // What was stored a year ago is still known after the move.
        let old = Wire.id()
        let lastYear = Wire.envelope(install: installs[0], Wire.event(id: old, at: "2025-11-26T09:30:10.001Z"))
        #expect(try service.client().post(lastYear, key: cells.app.secret).results.accepted == 1)
        let poster = Poster(service, key: cells.app.secret, installs: installs)
        #expect(eventually { poster.count >= 50 })
        let words = ["cluster", "move", "--to", "cell-3"] + shards.sorted().flatMap { ["--shard", "\($0)"] }
        let place = point == "map told to the first cell" ? Int.random(in: 1...5) : 1
        let died = try Bellwether(cells.databases[1]).dying(at: point, time: place).start(words).wait()
        #expect(died.status == 128 + 9, "\(died)")
        let before = poster.count
        // Another process, and another cell to begin in: the map says how far it came.
        let ended = try Bellwether(cells.databases[2]).start(words).wait()
        #expect(ended.status == 0, "\(ended)")
        #expect(eventually { poster.count > before + 20 })
        let stored = try poster.stop() + [old]
        #expect(try service.client().post(lastYear, key: cells.app.secret).results.duplicate == 1)
        #expect(try service.stop() == 0)
        var found: [String] = []
        for (place, database) in cells.databases.enumerated() {
            let here: [String] = try database.column("SELECT event_id::text FROM log.event")
            #expect(place == 2 || here.isEmpty)
            found += here
            #expect(try ProjectionControl(url: database.url(), log: .silent).catchUp().stopped.isEmpty)
            let verified = try Bellwether(database).run("verify")
            #expect(verified.status == 0, "\(verified)")
        }
        #expect(found.sorted() == stored.sorted())
        #expect(try hub.value("SELECT count(*) FROM analytics.events", as: Int64.self) == Int64(stored.count))
        #expect(try hub.value("SELECT count(*) FROM analytics.deliveries", as: Int64.self) == 3)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test(
        "goes back, if the old cell is named as the target",
        arguments: ["arrival prepared", "batches copied", "shards let go"])
    func goesBack(_ point: String) throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let install = cells.install(of: 0)
        let id = try #require(UUID(install))
        let events = (0..<10).map { _ in Event.sample(install: id) }
        _ = try cells.databases[0].appender().append([cells.app.submission(events)])
        let shard = ["--shard", "\(Shard.of(id, among: 16))"]
        let bellwether = try Bellwether(cells.databases[0])
        #expect(
            try bellwether.dying(at: point).start(["cluster", "move", "--to", "cell-2"] + shard).wait().status == 128
                + 9)
        #expect(try bellwether.start(["cluster", "move", "--to", "cell-1"] + shard).wait().status == 0)
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 0)
        #expect(try cells.databases[0].value("SELECT count(*) FROM log.event", as: Int64.self) == 10)
        #expect(try cells.cluster().map.moves.isEmpty && cells.cluster().map.holders == cells.map.holders)
        #expect(try bellwether.run("verify").status == 0)
        #expect(try Bellwether(cells.databases[1]).run("verify").status == 0)
    }

    /// A transaction that has read the hub and does not end.
    private final class SlowReader {
        private var connection: Connection
        init(_ connection: consuming Connection) { self.connection = connection }
        func begin() throws { try connection.execute(script: "BEGIN; SELECT count(*) FROM analytics.events") }
        func end() { connection.rollBack() }
    }

    @Test("whoever reads the hub sees each event once at any time, and one transaction sees no change of copies")
    func readers() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let id = try #require(UUID(cells.install(of: 0)))
        let events = (0..<500).map { number in
            Event.sample(at: Timestamp(microseconds: Event.sampleTime.microseconds + Int64(number)), install: id)
        }
        _ = try cells.databases[0].appender().append([cells.app.submission(events)])
        #expect(try ProjectionControl(url: cells.databases[0].url(), log: .silent).catchUp().stopped.isEmpty)
        let seen = Lock((stopping: false, counts: Set<[Int64]>(), reads: 0))
        let reader = Worker(name: "reader") {
            do {
                var analyst = try hub.connect(as: TestPostgres.analyst)
                while !seen.withLock({ $0.stopping }) {
                    let row = try analyst.query(
                        """
                        SELECT (SELECT count(*) FROM analytics.events), (SELECT count(*) FROM analytics.deliveries),
                            (SELECT coalesce(sum(delivered), 0)::bigint FROM analytics.category_funnel)
                        """)[0]
                    let counts: [Int64] = [try row.get(0), try row.get(1), try row.get(2)]
                    seen.withLock { seen in
                        seen.counts.insert(counts)
                        seen.reads += 1
                    }
                }
            } catch { seen.withLock { _ = $0.counts.insert([-1]) } }
        }
        let shard = Shard.of(id, among: 16)
        let slow = SlowReader(try hub.connect(as: TestPostgres.analyst))
        var waits = 0
        for target in ["cell-2", "cell-3", "cell-1"] {
            try slow.begin()
            _ = try cells.cluster().move([shard], to: target) { progress in
                guard case .waiting = progress else { return }
                waits += 1
                slow.end()
            }
        }
        let reads = seen.withLock { $0.reads }
        #expect(eventually { seen.withLock { $0.reads > reads + 2 } })
        seen.withLock { $0.stopping = true }
        reader.join()
        #expect(seen.withLock { $0.counts } == [[500, 1, 1]])
        #expect(waits >= 3)
    }

    @Test(
        "a killed move that goes on waits for whoever reads a hub that has not heard of it, and counts nothing wrongly")
    func waitsForReader() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let id = try #require(UUID(cells.install(of: 0)))
        _ = try cells.databases[0].appender().append([
            cells.app.submission((0..<10).map { _ in Event.sample(install: id) })
        ])
        let words = ["cluster", "move", "--shard", "\(Shard.of(id, among: 16))", "--to", "cell-2"]
        let bellwether = try Bellwether(cells.databases[0])
        // The fourth map says that hubs show the new copy.
        let died = try bellwether.dying(at: "map told to the first cell", time: 4).start(words).wait()
        #expect(died.status == 128 + 9, "\(died)")
        let reader = SlowReader(try hub.connect(as: TestPostgres.analyst))
        try reader.begin()
        let move = try bellwether.start(words)
        #expect(try hub.hasWaiters(1))
        #expect(try cells.databases[0].value("SELECT count(*) FROM log.event", as: Int64.self) == 10)
        #expect(move.isRunning)
        reader.end()
        #expect(try move.wait().status == 0)
        #expect(try cells.databases[0].value("SELECT count(*) FROM log.event", as: Int64.self) == 0)
        #expect(try hub.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 10)
    }

    @Test("a hub that goes away holds up a move, but not the events")
    func hubGone() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let id = try #require(UUID(cells.install(of: 0)))
        let shard = Shard.of(id, among: 16)
        let words = ["cluster", "move", "--shard", "\(shard)", "--to", "cell-2"]
        let bellwether = try Bellwether(cells.databases[0])
        let move = try bellwether.stopping(at: "arrival prepared").start(words)
        #expect(eventually { move.isStopped })
        try hub.close()
        move.signal(SIGCONT)
        let ended = try move.wait()
        #expect(ended.status == 69 && ended.messages.contains("'hub'"), "\(ended)")
        let map = try cells.cluster().map
        #expect(map.holders[Int(shard)] == 2 && map.moves.map(\.shard) == [shard])
        let verdicts = try cells.databases[1].appender().append(
            [cells.app.submission([Event.sample(install: id)])], checking: [.place])
        guard case .settled? = verdicts.first else { return #expect(Bool(false), "\(verdicts)") }
        try hub.open()
        #expect(try bellwether.start(words).wait().status == 0)
        #expect(try hub.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 1)
    }

    @Test(
        "whoever was overtaken while standing still changes nothing more",
        arguments: [
            (point: "batches copied", target: "cell-1"), (point: "arrival prepared", target: "cell-1"),
            (point: "events forgotten", target: "cell-2"),
        ])
    func overtaken(_ stop: (point: String, target: String)) throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let id = try #require(UUID(cells.install(of: 0)))
        func add(_ count: Int, to place: Int) throws {
            let events = (0..<count).map { _ in Event.sample(install: id) }
            _ = try cells.databases[place].appender().append([cells.app.submission(events)], checking: .place)
        }
        try add(10, to: 0)
        let bellwether = try Bellwether(cells.databases[0])
        func words(_ target: String) -> [String] {
            ["cluster", "move", "--shard", "\(Shard.of(id, among: 16))", "--to", target]
        }
        let late = try bellwether.stopping(at: stop.point).start(words("cell-2"))
        #expect(eventually { late.isStopped })
        // Somebody else goes on; back, or back later.
        for target in Set(["cell-2", stop.target]).sorted(by: >) + ["cell-1"] {
            #expect(try bellwether.start(words(target)).wait().status == 0)
        }
        try add(5, to: 0)
        late.signal(SIGCONT)
        let ended = try late.wait()
        #expect(ended.status != 0 && ended.messages.contains("somebody else"), "\(ended)")
        let counts = try cells.databases.map { try $0.value("SELECT count(*) FROM log.event", as: Int64.self) }
        #expect(counts == [15, 0, 0])
        for database in cells.databases {
            #expect(try ProjectionControl(url: database.url(), log: .silent).catchUp().stopped.isEmpty)
            #expect(try Bellwether(database).run("verify").status == 0)
        }
        #expect(try hub.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 15)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test("a quiet shard moves in a moment beside busy ones, and only its events are refused meanwhile")
    func besideBusyOnes() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        func shard(_ install: String) -> Int16? { UUID(install).map { Shard.of($0, among: 16) } }
        let quiet = cells.install(of: 0)
        let moved = try #require(shard(quiet))
        let busy = (0..<30).map { _ in cells.install(of: 0) }.filter { shard($0) != moved }
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        let own = Poster(service, key: cells.app.secret, installs: [quiet])
        let others = (0..<6).map { _ in Poster(service, key: cells.app.secret, installs: busy) }
        #expect(eventually { others.allSatisfy { $0.count > 100 } && own.count > 20 })
        // Events of others come in during each step of the copy.
        try cells.databases[1].run(
            """
            CREATE FUNCTION cluster.slow() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END';
            CREATE TRIGGER slow BEFORE UPDATE ON cluster.arrival EXECUTE FUNCTION cluster.slow()
            """)
        var refused = 0.0
        _ = try cells.cluster().move([moved], to: "cell-2") { progress in
            if case .switched(let seconds) = progress { refused = seconds }
        }
        let before = own.count
        #expect(eventually { own.count > before + 20 })
        // A move has five maps, and two more for each switch that took too long; a busy machine may need a second one.
        let maps = try cells.cluster().map.epoch - cells.map.epoch
        #expect(refused > 0 && maps <= 7, "\(refused) s, \(maps) maps")
        #expect(others.map(\.refusals) == others.map { _ in 0 })
        let stored = try own.stop().count + others.reduce(0) { try $0 + $1.stop().count }
        #expect(try service.stop() == 0)
        let counts = try cells.databases.map { try $0.value("SELECT count(*) FROM log.event", as: Int64.self) }
        #expect(counts.reduce(0, +) == Int64(stored))
    }

    @Test("moves of two shards that were killed at different times end together")
    func apart() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[0])
        let installs = (0..<20).map { _ in cells.install(of: 0) }.compactMap { UUID($0) }
        let shards = Set(installs.map { Shard.of($0, among: 16) }).sorted().prefix(2)
        let service = try bellwether.serve("--only", "ingest")
        func post() throws {
            for install in installs {
                let envelope = Wire.envelope(install: "\(install)", Wire.event())
                #expect(eventually { (try? service.client().post(envelope, key: cells.app.secret).status) == 200 })
            }
        }
        func words(_ shard: Int16) -> [String] { ["--shard", "\(shard)"] }
        try post()
        for shard in shards {
            let move = ["cluster", "move", "--to", "cell-2"] + words(shard)
            #expect(try bellwether.dying(at: "shards switched").start(move).wait().status == 128 + 9)
            try post()
        }
        let ended = try bellwether.start(["cluster", "move", "--to", "cell-2"] + shards.flatMap(words)).wait()
        #expect(ended.status == 0, "\(ended)")
        #expect(try service.stop() == 0)
        let counts = try cells.databases.map { try $0.value("SELECT count(*) FROM log.event", as: Int64.self) }
        #expect(counts.reduce(0, +) == 60 && counts[1] > 0)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test("moves of two shards at once, one of them inside the switch of the other, both end")
    func twoAtOnce() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[0])
        let first = try bellwether.stopping(at: "shards let go").start([
            "cluster", "move", "--shard", "0", "--to", "cell-2",
        ])
        #expect(eventually { first.isStopped })
        #expect(try bellwether.start(["cluster", "move", "--shard", "1", "--to", "cell-3"]).wait().status == 0)
        first.signal(SIGCONT)
        let ended = try first.wait()
        #expect(ended.status == 0, "\(ended)")
        let map = try cells.cluster().map
        #expect(map.holders[0] == 2 && map.holders[1] == 3 && map.moves.isEmpty)
    }

    @Test("a shard that nobody takes is told by check and status, and a second one joins its move")
    func open() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[0])
        let words = ["cluster", "move", "--shard", "0", "--to", "cell-2"]
        #expect(try bellwether.dying(at: "shards let go").start(words).wait().status == 128 + 9)
        // The third cell has not heard of it, and the check would tell it.
        for database in cells.databases {
            let status = try Bellwether(database).trusted("cluster", "status")
            #expect(status.contains("Nobody takes the events of shard 0"))
        }
        let check = try bellwether.run("cluster", "check")
        #expect(check.status == 1 && check.output.contains("no cell takes the events of shard 0"), "\(check)")
        #expect(try bellwether.start(words + ["--shard", "1"]).wait().status == 0)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test("what is erased in the old cell after it was copied is erased in the new one, too")
    func erasedLate() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let id = try #require(UUID(cells.install(of: 0)))
        let old = try cells.databases[0].appender()
        _ = try old.append([cells.app.submission([Event.sample(install: id)])])
        let bellwether = try Bellwether(cells.databases[0])
        let words = ["cluster", "move", "--shard", "\(Shard.of(id, among: 16))", "--to", "cell-2"]
        let move = try bellwether.stopping(at: "shards switched").start(words)
        #expect(eventually { move.isStopped })
        // In this cell alone: in the new one it was done before anything was there.
        _ = try ErasureRun(ProjectionControl(url: cells.databases[0].url(), log: .silent)).run(
            app: cells.app.id, install: id)
        move.signal(SIGCONT)
        let ended = try move.wait()
        #expect(ended.status == 0, "\(ended)")
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 0)
        #expect(try Bellwether(cells.databases[1]).run("verify").status == 0)
    }
}
