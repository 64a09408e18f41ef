import Clusters
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A cell is restored from a backup that is older than a move")
struct RestoredCellTests {
    private let cells: ThreeCells
    private let hub: TestDatabase
    private let shard: Int16

    /// Each cell has an event, and the shard of that in the second one will move to the third.
    init() throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        let installs = (0..<3).map(cells.install).compactMap { Values.UUID($0) }
        for (install, database) in zip(installs, cells.databases) {
            _ = try database.appender().append([cells.app.submission([Event.sample(install: install)])])
        }
        shard = Shard.of(installs[1], among: 16)
    }

    private func drop() {
        cells.drop()
        hub.drop()
    }

    /// Copies a cell as it is now.
    private func keep(_ place: Int) throws {
        let name = try close(place)
        var administrator = try cells.databases[0].administrator()
        try administrator.execute(script: "CREATE DATABASE \(name)_kept TEMPLATE \(name)")
    }

    /// Puts the copy in place of the cell.
    private func restore(_ place: Int) throws {
        let name = try close(place)
        var administrator = try cells.databases[0].administrator()
        try administrator.execute(script: "DROP DATABASE \(name)")
        try administrator.execute(script: "ALTER DATABASE \(name)_kept RENAME TO \(name)")
    }

    private func close(_ place: Int) throws -> String {
        let name = cells.databases[place].name
        var administrator = try cells.databases[0].administrator()
        #expect(
            try eventually {
                try administrator.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = \(name)"
                )
                .count == 0
            })
        return name
    }

    private func move() throws { #expect(try cells.cluster().move([shard], to: "cell-3").isEmpty) }

    private func shown() throws -> Int64 { try hub.value("SELECT count(*) FROM analytics.events") }

    @Test("the copy that it has again is not shown twice, and the next move removes it")
    func surplus() throws {
        defer { drop() }
        try keep(1)
        try move()
        try restore(1)
        #expect(try shown() == 4)
        // Nobody goes on as if nothing had happened.
        for shard in [shard, shard ^ 1] {
            let error = #expect(throws: ClusterError.self) { try cells.cluster().move([shard], to: "cell-1") }
            #expect(error.map { "\($0)".contains("cluster check") } == true, "\(error as Any)")
        }
        let findings = try cells.cluster().check()
        #expect(findings.allSatisfy(\.isMended) && findings.first?.cell == "cell-2", "\(findings)")
        #expect(findings.first?.what.contains("cluster move --shard \(shard) --to cell-3") == true, "\(findings)")
        #expect(try shown() == 3)
        try move()
        #expect(try shown() == 3)
        #expect(try cells.databases[1].value("SELECT count(*) FROM log.event", as: Int64.self) == 0)
        #expect(try cells.cluster().check().isEmpty)
    }

    @Test("the shard that it never saw come is not passed over: it stays closed until somebody says that it is lost")
    func missing() throws {
        defer { drop() }
        try keep(2)
        try move()
        try restore(2)
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

    @Test("if both are from before the move, the shard is where it was")
    func both() throws {
        defer { drop() }
        try keep(1)
        try keep(2)
        try move()
        try restore(1)
        try restore(2)
        let findings = try cells.cluster().check()
        #expect(!findings.contains { !$0.isMended }, "\(findings)")
        #expect(findings.contains { $0.cell == "cell-2" && $0.what.contains("takes its events again") }, "\(findings)")
        #expect(try cells.cluster().map.holders[Int(shard)] == 2)
        #expect(try shown() == 3)
        #expect(try cells.cluster().check().isEmpty)
    }
}
