import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Clusters

@Suite("A shard moves to another cell")
struct MoveTests {
    /// Recounts each cell.
    private func verify(_ databases: [TestDatabase]) throws {
        for database in databases {
            let report = try Verifier().verify(
                lanes: 2,
                opening: { try LogSession.open(url: database.url(), role: nil, purpose: "verify", log: .silent) })
            #expect(report.isProved, "\(report)")
        }
    }

    @Test("with all that its installs ever said: every view of a hub stays what one database shows")
    func everything() throws {
        let both = try HubAndWhole(seeds: 0..<6)
        defer { both.drop() }
        let cluster = try both.cells.cluster()
        // From two cells to a third one at once, and then on to the first.
        #expect(try cluster.move([0, 1, 2, 3, 8, 9], to: "cell-3").isEmpty)
        #expect(try cluster.move([2, 8, 12], to: "cell-1").isEmpty)
        #expect(cluster.map.holders == [3, 3, 1, 3, 1, 1, 1, 1, 1, 3, 2, 2, 1, 3, 3, 3] && cluster.map.moves.isEmpty)
        #expect(try cluster.check().isEmpty)
        try both.compareViews()
        try verify(both.cells.databases)
        for (place, database) in both.cells.databases.enumerated() {
            let shards: [Int16] = try database.column(
                "SELECT DISTINCT (codes >> 4 & 63)::smallint FROM log.event ORDER BY 1")
            #expect(shards.allSatisfy { cluster.map.holders[Int($0)] == Int16(place + 1) })
            #expect(try database.value("SELECT count(*) FROM cluster.arrival", as: Int64.self) == 0)
        }
    }

    @Test("the cell that gives shards away must say which logins are needed; that another one is away is no obstacle")
    func away() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let (cluster, target) = (try cells.cluster(), cells.map.cells[2])
        try cells.close(1)
        defer { try? cells.open(1) }
        #expect(throws: ClusterError.self) { try cluster.requireReach(of: target, for: [8]) }
        try cluster.requireReach(of: target, for: [0])
    }
}

@Suite("A move at a limited rate")
struct MoveRateTests {
    @Test("copies no more events a second than it may")
    func throttled() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let install = UUID(cells.install(of: 0))
        let id = try #require(install)
        let events = (0..<300).map { _ in Event.sample(install: id) }
        _ = try cells.databases[0].appender().append([cells.app.submission(events)])
        let begun = Deadline.now
        #expect(try cells.cluster().move([Shard.of(id, among: 16)], to: "cell-2", rate: 150).isEmpty)
        #expect(Deadline.now.seconds(since: begun) >= 2)
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 300)
    }

    typealias UUID = Values.UUID
}

@Suite("What moves with a shard besides its events")
struct MovedHistoryTests {
    typealias UUID = Values.UUID

    private let cells: ThreeCells
    private let hub: TestDatabase

    init() throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
    }

    private func drop() {
        cells.drop()
        hub.drop()
    }

    /// An install of a shard that the first cell has, but no other install's.
    private func installs(_ count: Int) throws -> [UUID] {
        var shards: Set<Int16> = []
        var installs: [UUID] = []
        while installs.count < count {
            let install = try #require(UUID(cells.install(of: 0)))
            if shards.insert(Shard.of(install, among: 16)).inserted { installs.append(install) }
        }
        return installs
    }

    private func shard(_ install: UUID) -> Int16 { Shard.of(install, among: 16) }

    private func append(_ place: Int, _ events: [Event]) throws -> [Verdict] {
        try cells.databases[place].appender().append([cells.app.submission(events)])[0]
    }

    private func catchUp() throws {
        for database in cells.databases {
            #expect(try ProjectionControl(url: database.url(), log: .silent).catchUp().stopped.isEmpty)
        }
    }

    /// What the hub's funnels say.
    private func funnels() throws -> [String] {
        try Projectors.all.flatMap { $0.tables }.filter(\.hasView).flatMap { table in
            try hub.column(
                "SELECT \(table.name) || ' ' || f::text FROM analytics.\(identifier: table.name) AS f ORDER BY 1",
                of: String.self)
        }
    }

    @Test(
        "retention and erasure: months stay removed with their counts, whatever the new cell has; what was erased stays out"
    )
    func removed() throws {
        defer { drop() }
        let installs = try installs(3)
        let (kept, erased) = (installs[0], installs[1])
        let old = try #require(Timestamp(rfc3339: "2023-02-10T10:00:00Z"))
        for database in cells.databases {
            #expect(try database.value("SELECT log.make_partition('2023-02-01')", as: Bool.self) == true)
        }
        let events = [kept, erased].map { Event.sample(at: old, install: $0) }
        let fresh = [kept, erased].map { Event.sample(install: $0) }
        #expect(try append(0, events + fresh) == [Verdict](repeating: .accepted, count: 4))
        // The other cell keeps that month: somebody sent it something just now.
        let other = try #require(UUID(cells.install(of: 1)))
        #expect(try append(1, [Event.sample(at: old, install: other)]) == [.accepted])
        try catchUp()
        let bellwether = try Bellwether(cells.databases[0])
        try cells.databases[0].run(
            "BEGIN; SELECT log.open_gate(); UPDATE log.event SET received_at = device_at; COMMIT")
        // In this cell alone, as an interrupted run leaves it.
        _ = try RetentionRun(ProjectionControl(url: cells.databases[0].url(), log: .silent)).run(
            days: 300, now: WallClock.now
        ) { _ in }
        #expect(
            try cells.databases[0].value(
                "SELECT dropped_at IS NOT NULL FROM log.partition WHERE month = '2023-02-01'", as: Bool.self))
        _ = try bellwether.trusted("erase", "--app", "chat", "--install", "\(erased)")
        let before = try funnels()
        #expect(before.contains { $0.contains("2023-02-10") })
        let cluster = try cells.cluster()
        #expect(try cluster.move([shard(kept), shard(erased)], to: "cell-2").isEmpty)
        #expect(try funnels() == before)
        func reasons(_ events: [Event]) throws -> [RejectionReason?] {
            try append(1, events).map { verdict in if case .rejected(let why) = verdict { why.reason } else { nil } }
        }
        #expect(try reasons([events[0]]) == [.tooOld])
        #expect(try reasons([events[1], fresh[1]]) == [.erased, .erased])
        #expect(try append(1, [fresh[0]]) == [.duplicate])
        #expect(try append(1, [Event.sample(at: old, install: other)]) == [.accepted])
        // Once more, to a third cell, and back.
        #expect(try cluster.move([shard(kept), shard(erased)], to: "cell-3").isEmpty)
        #expect(try cluster.move([shard(kept), shard(erased)], to: "cell-1").isEmpty)
        try catchUp()
        #expect(try append(0, [events[0]]).map { $0 == .accepted } == [false])
        #expect(try append(0, [fresh[0]]) == [.duplicate])
        for database in cells.databases[1...] {
            #expect(try database.value("SELECT count(*) FROM log.closed_before_move", as: Int64.self) == 0)
        }
    }

    @Test("words that were merged or forgotten, and events whose hash another one there has")
    func wordsAndTwins() throws {
        defer { drop() }
        let installs = try installs(2)
        let there = try #require(UUID(cells.install(of: 1)))
        var connection = try cells.databases[0].connect()
        let (hash, app) = (UInt64.random(in: 0 ... .max), cells.app.app.id)
        func twin(_ install: UUID, _ number: UInt32) throws -> Event {
            Event.sample(
                id: try HashTwins(install: install, app: app, on: &connection).id(number, hash: hash), install: install)
        }
        // The second of them has a tie in the old cell, and its shard moves without the first one's.
        let twins = [try twin(installs[0], 1), try twin(installs[1], 2), try twin(installs[1], 3)]
        let foreign = try twin(there, 4)
        for event in twins { #expect(try append(0, [event]) == [.accepted]) }
        #expect(try append(1, [foreign]) == [.accepted])
        let words = ["Sale", "sale", "junk"].map { Event.sample(install: installs[1], category: $0) }
        #expect(try append(0, words) == [Verdict](repeating: .accepted, count: 3))
        let bellwether = try Bellwether(cells.databases[0])
        _ = try bellwether.trusted("words", "merge", "--app", "chat", "--member", "category", "Sale", "--into", "sale")
        _ = try bellwether.trusted("words", "prune", "--app", "chat", "--member", "category", "junk")
        try catchUp()
        let categories: Statement =
            "SELECT category || ' ' || count(*) FROM analytics.events GROUP BY category ORDER BY 1"
        let (before, shown): ([String], [String]) = (try funnels(), try hub.column(categories))
        #expect(shown == ["(other) 1", "INFO_CATEGORY 4", "sale 2"])
        let cluster = try cells.cluster()
        #expect(try cluster.move([shard(installs[1])], to: "cell-2").isEmpty)
        #expect(try funnels() == before)
        #expect(try hub.column(categories) == shown)
        for (place, events) in [(0, twins[..<1]), (1, twins[1...] + [foreign] + words)] {
            #expect(try append(place, Array(events)) == [Verdict](repeating: .duplicate, count: events.count))
        }
        #expect(
            try cells.databases[1].column(
                "SELECT codes & 15 FROM log.event WHERE device_at = \(foreign.deviceAt) ORDER BY 1"
            )
            .filter { $0 > 0 } == [1, 2] as [Int32])
        #expect(try cluster.move([shard(there)], to: "cell-1").isEmpty)
        #expect(try append(0, [twins[0], foreign]) == [.duplicate, .duplicate])
        #expect(try append(1, Array(twins[1...])) == [.duplicate, .duplicate])
    }

    @Test("an export on a hub has each event once, before, while and after its shard moves")
    func exported() throws {
        defer { drop() }
        let install = try installs(1)[0]
        let events = (0..<3).map { _ in Event.sample(install: install) }
        for event in events[..<2] { #expect(try append(0, [event]) == [.accepted]) }
        let directory = TemporaryDirectory()
        func exported(from position: String) throws -> (ids: [String], next: String) {
            let ended = try Bellwether(hub).run("export", "--from", position, "--next", directory("next"))
            #expect(ended.status == 0, "\(ended)")
            let lines = ended.output.split(separator: "\n")
            let column = try #require(lines.first?.split(separator: ",").firstIndex(of: "event_id"))
            let ids = lines.dropFirst().map {
                String($0.split(separator: ",", omittingEmptySubsequences: false)[column])
            }
            return (
                ids.sorted(),
                try String(contentsOfFile: directory("next"), encoding: .utf8).trimmingCharacters(in: .newlines)
            )
        }
        let both = events[..<2].map { "\($0.id)" }.sorted()
        let before = try exported(from: "0")
        #expect(before.ids == both)
        let words = ["cluster", "move", "--shard", "\(shard(install))", "--to", "cell-2"]
        let bellwether = try Bellwether(cells.databases[0])
        #expect(try bellwether.dying(at: "copy shown").start(words).wait().status == 128 + 9)
        #expect(try exported(from: "0").ids == both)
        #expect(try exported(from: before.next).ids.isEmpty)
        #expect(try bellwether.start(words).wait().status == 0)
        #expect(try append(1, [events[2]]) == [.accepted])
        #expect(try exported(from: "0").ids == events.map { "\($0.id)" }.sorted())
        let rest = try exported(from: before.next)
        #expect(rest.ids == ["\(events[2].id)"])
        #expect(try exported(from: rest.next).ids.isEmpty)
    }

    @Test("back to one database: the first cell takes what the others counted and rejected, once, and they leave")
    func oneAgain() throws {
        defer { drop() }
        let refused = RejectedEvent(
            id: nil, install: nil, rejection: Rejection(.unknownType, "type"), raw: #"{"type":"none"}"#)
        for place in 0..<3 {
            let install = try #require(UUID(cells.install(of: place)))
            let events = [Event.sample(install: install), Event.sample(install: install)]
            for _ in 0..<2 {
                _ = try cells.databases[place].appender().append([cells.app.submission(events, rejected: [refused])])
            }
        }
        try catchUp()
        let questions = [
            "SELECT q::text FROM analytics.data_quality AS q ORDER BY 1",
            "SELECT DISTINCT raw, reason FROM analytics.rejected_events",
        ]
        func answers(_ database: TestDatabase) throws -> [String] { try questions.flatMap(database.analystRows) }
        let (before, shown) = (try answers(hub), try funnels())
        let bellwether = try Bellwether(cells.databases[0])
        let refusal = try bellwether.run("cluster", "remove", "cell-2")
        #expect(refusal.status == 1 && refusal.messages.contains("move them to another cell first"), "\(refusal)")
        #expect(try bellwether.run("cluster", "remove", "cell-1").status == 1)
        let cluster = try cells.cluster()
        #expect(try cluster.move(Set(8..<16), to: "cell-1").isEmpty)
        #expect(try bellwether.dying(at: "cell left").run("cluster", "remove", "cell-2").status == 128 + 9)
        for name in ["cell-2", "cell-3"] { _ = try bellwether.trusted("cluster", "remove", name) }
        #expect(try answers(hub) == before)
        #expect(try answers(cells.databases[0]) == before)
        #expect(try funnels() == shown)
        _ = try bellwether.trusted("cluster", "remove", "hub")
        #expect(try cells.cluster().map.cells.map(\.name) == ["cell-1"])
        #expect(try bellwether.run("verify").status == 0)
        // A number is never used again.
        let fresh = try TestDatabase.make(.empty)
        defer { fresh.drop() }
        _ = try bellwether.trusted("cluster", "add", try ThreeCells.place(of: fresh), "--name", "later")
        #expect(try cells.cluster().map.cells.map(\.number) == [1, 4])
    }

    @Test("retention and a move keep out of each other's way")
    func oneAtATime() throws {
        defer { drop() }
        let install = try installs(1)[0]
        #expect(try append(0, [Event.sample(install: install)]) == [.accepted])
        let bellwether = try Bellwether(cells.databases[0])
        let words = ["cluster", "move", "--shard", "\(shard(install))", "--to", "cell-2"]
        #expect(try bellwether.dying(at: "move begun").start(words).wait().status == 128 + 9)
        try cells.databases[0].run("SELECT log.make_partition('2023-02-01')")
        let error = #expect(throws: PostgresError.self) {
            try cells.databases[0].run("SELECT log.close_month('2023-02-01', NULL)")
        }
        #expect(error.map { "\($0)" }?.contains("being moved") == true)
        #expect(try bellwether.start(words).wait().status == 0)
        try cells.databases[1].run(
            "SELECT log.make_partition('2023-02-01'); SELECT log.close_month('2023-02-01', NULL)")
        let refused = try bellwether.run("cluster", "move", "--shard", "\(shard(install))", "--to", "cell-1")
        #expect(
            refused.status == 1
                && refused.messages.contains("retention has not finished removing 2023-02-01 in cell 'cell-2'"),
            "\(refused)")
        #expect(try cells.cluster().map.moves.isEmpty)
    }
}
