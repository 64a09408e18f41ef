import Clusters
import EventLog
import Glibc
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A cell is restored from a backup that is older than a move")
struct RestoredCellTests {
    private let cells: ThreeCells
    private let hub: TestDatabase
    private let shard: Int16
    /// An install of that shard.
    private let install: String

    /// Each cell has an event, and the shard of that in the second one will move to the third.
    init() throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        let installs = (0..<3).map(cells.install).compactMap { Values.UUID($0) }
        for (install, database) in zip(installs, cells.databases) {
            _ = try database.appender().append([cells.app.submission([Event.sample(install: install)])])
        }
        (shard, install) = (Shard.of(installs[1], among: 16), "\(installs[1])")
    }

    private func drop() {
        cells.drop()
        hub.drop()
    }

    private func move() throws { #expect(try cells.cluster().move([shard], to: "cell-3").isEmpty) }

    private func shown() throws -> Int64 { try hub.value("SELECT count(*) FROM analytics.events") }

    @Test("the copy that it has again gets no events, and is removed when somebody says so")
    func surplus() throws {
        defer { drop() }
        try cells.keep(1)
        try move()
        try cells.restore(1)
        // Both copies are there, and hubs count neither twice.
        let error = #expect(throws: PostgresError.self) { try shown() }
        #expect(error.map { "\($0)".contains("cell 'cell-2' was restored from a backup") } == true, "\(error as Any)")
        // A process that begins there goes by the newest map.
        let service = try Bellwether(cells.databases[1]).serve("--only", "ingest")
        let envelope = Wire.envelope(install: install, Wire.event())
        #expect(try service.client().post(envelope, key: cells.app.secret).status == 200)
        #expect(try service.stop() == 0)
        #expect(try cells.databases[2].value("SELECT count(*) FROM log.event", as: Int64.self) == 3)
        // Nobody goes on as if nothing had happened.
        for other in [shard, shard ^ 1] {
            let error = #expect(throws: ClusterError.self) { try cells.cluster().move([other], to: "cell-1") }
            #expect(error.map { "\($0)".contains("cluster check") } == true, "\(error as Any)")
        }
        let findings = try cells.cluster().check()
        #expect(findings.map(\.isMended) == [false] && findings.first?.cell == "cell-2", "\(findings)")
        let accepted = try cells.cluster().check(lossIn: "cell-2")
        #expect(!accepted.contains { !$0.isMended }, "\(accepted)")
        #expect(accepted.first?.what.contains("cluster move --shard \(shard) --to cell-3") == true, "\(accepted)")
        #expect(try shown() == 4)
        try move()
        #expect(try shown() == 4)
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 0)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test("the shard that it lacks stays closed until somebody says that it is lost", arguments: [false, true])
    func missing(halfCopied: Bool) throws {
        defer { drop() }
        if halfCopied {
            let words = ["cluster", "move", "--shard", "\(shard)", "--to", "cell-3"]
            let killed = try Bellwether(cells.databases[0]).dying(at: "arrival prepared").start(words).wait(within: 60)
            #expect(killed.status == 128 + SIGKILL, "\(killed)")
        }
        try cells.keep(2)
        try move()
        try cells.restore(2)
        for _ in 0..<2 {
            let findings = try cells.cluster().check()
            #expect(findings.map(\.isMended) == [false] && findings.first?.cell == "cell-3", "\(findings)")
            #expect(findings.first?.what.contains("--accept-loss cell-3") == true, "\(findings)")
        }
        #expect(throws: ClusterError.self) { try cells.cluster().check(lossIn: "cell-4") }
        #expect(try cells.cluster().check(lossIn: "cell-2").map(\.isMended) == [false])
        let accepted = try cells.cluster().check(lossIn: "cell-3")
        #expect(!accepted.contains { !$0.isMended }, "\(accepted)")
        #expect(try cells.cluster().check().isEmpty)
        #expect(try cells.cluster().map.holders[Int(shard)] == 3)
        #expect(try shown() == 2)
    }

    @Test("if the old cell has not forgotten the shard yet, no loss is accepted, and nothing is forgotten")
    func shownAlready() throws {
        defer { drop() }
        try cells.keep(2)
        let words = ["cluster", "move", "--shard", "\(shard)", "--to", "cell-3"]
        let killed = try Bellwether(cells.databases[0]).dying(at: "copy shown").start(words).wait(within: 60)
        #expect(killed.status == 128 + SIGKILL, "\(killed)")
        try cells.restore(2)
        #expect(try !cells.cluster().check(lossIn: "cell-3").contains { $0.isMended && $0.what.contains("anew") })
        #expect(throws: ClusterError.self) { try move() }
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 1)
    }

    @Test("an empty database in the place of a cell gets no shards before somebody says that theirs are lost")
    func emptied() throws {
        defer { drop() }
        let name = try cells.cut(1)
        let empty = try TestDatabase.make(.withUsualShards)
        defer { empty.drop() }
        var administrator = try cells.databases[0].administrator()
        try administrator.execute(script: "DROP DATABASE \(name)")
        try administrator.execute(script: "CREATE DATABASE \(name) TEMPLATE \(empty.name) OWNER \(TestPostgres.owner)")
        for _ in 0..<2 {
            let findings = try cells.cluster().check()
            #expect(
                findings.contains { $0.cell == "cell-2" && !$0.isMended && $0.what.contains("--accept-loss cell-2") })
            #expect(try cells.databases[1].value("SELECT count(*) FROM cluster.map", as: Int64.self) == 0)
        }
        #expect(throws: ClusterError.self) { try move() }
        let accepted = try cells.cluster().check(lossIn: "cell-2")
        #expect(!accepted.contains { !$0.isMended }, "\(accepted)")
        #expect(try cells.cluster().check().isEmpty)
        #expect(try shown() == 2)
        let known = Values.UUID(install)
        let event = Event.sample(install: try #require(known))
        _ = try cells.databases[1].appender().append([cells.app.submission([event])], checking: .place)
        #expect(try shown() == 3)
    }

    @Test("the first cell as it was before there was a cluster counts nothing twice, once somebody says what is lost")
    func beforeTheCluster() throws {
        defer { drop() }
        let first = cells.databases[0]
        let drawn = Values.UUID(cells.install(of: 0))
        let own = try #require(drawn)
        let moved = Shard.of(own, among: 16)
        _ = try first.appender().append([cells.app.submission([Event.sample(install: own)])])
        try cells.keep(0)
        #expect(try cells.cluster().move([moved], to: "cell-3").isEmpty)
        let before = try shown()
        try cells.restore(0)
        try first.run(
            "DELETE FROM cluster.map; UPDATE cluster.state SET cluster = NULL, cell = NULL, epoch = 0; DELETE FROM cluster.cell"
        )
        var connection = try cells.databases[2].connect()
        func cluster() throws -> Cluster {
            try #require(try Cluster(of: &connection, url: try cells.databases[2].url(), log: .silent))
        }
        #expect(
            try cluster().check().contains { $0.cell == "cell-1" && !$0.isMended && $0.what.contains("shard \(moved)") }
        )
        #expect(try first.value("SELECT count(*) FROM cluster.map", as: Int64.self) == 0)
        _ = try cluster().check(lossIn: "cell-1")
        #expect(try shown() == before)
        #expect(try cluster().move([moved], to: "cell-3").isEmpty)
        #expect(try cluster().check().isEmpty)
        #expect(try shown() == before)
    }

    @Test("if both are from before the move, the shard goes back to where it was", arguments: ["cell-2", "cell-3"])
    func both(accepted: String) throws {
        defer { drop() }
        try cells.keep(1)
        try cells.keep(2)
        try move()
        try cells.restore(1)
        try cells.restore(2)
        #expect(try cells.cluster().check().map(\.isMended) == [false, false])
        _ = try cells.cluster().check(lossIn: accepted)
        let rest = try cells.cluster().check()
        #expect(!rest.contains { !$0.isMended }, "\(rest)")
        #expect(try cells.cluster().map.holders[Int(shard)] == 2)
        #expect(try shown() == 3)
        #expect(try cells.cluster().check().isEmpty)
    }
}
