import CatalogueSupport
import Clusters
import EventLog
import Glibc
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A cell that was restored from a backup is found out")
struct FoundOutTests {
    private let cells: ThreeCells
    private let hub: TestDatabase

    init() throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        try add(to: 1)
    }

    private func drop() {
        cells.drop()
        hub.drop()
    }

    private func add(to place: Int) throws {
        let install = try #require(UUID(cells.install(of: place)))
        _ = try cells.databases[place].appender().append([cells.app.submission([Event.sample(install: install)])])
    }

    private func refusal(_ query: Statement) throws -> String? {
        do {
            _ = try hub.column(query, of: Int64.self)
            return nil
        } catch { return "\(error)" }
    }

    private func status() throws -> ChildProcess.Ended { try Bellwether(hub).run("cluster", "status") }

    @Test("without any move: status and doctor say it, hubs show an error, and go on when somebody says what is lost")
    func loss() throws {
        defer { drop() }
        try cells.keep(1)
        try add(to: 1)
        #expect(try status().status == 0)
        try cells.restore(1)
        // The number of what is lost is used again.
        try add(to: 1)
        let found = try status()
        #expect(found.status == 1 && found.output.contains("FAIL    cell-2: restored from a backup"), "\(found)")
        for view in ["events", "deliveries", "data_quality", "rejected_events", "batches", "category_funnel"] {
            let words: String = "SELECT count(*) FROM analytics.\(view)"
            let error = try refusal(Statement(words, []))
            #expect(error?.contains("cell 'cell-2' was restored from a backup") == true, "\(view): \(error as Any)")
        }
        for database in [hub, cells.databases[0]] {
            let doctor = try Bellwether(database).run("doctor")
            #expect(doctor.status == 1 && doctor.output.contains(/FAIL  cluster +cell 'cell-2' restored/), "\(doctor)")
        }
        let findings = try cells.cluster().check()
        #expect(findings.map(\.isMended) == [false] && findings.first?.cell == "cell-2", "\(findings)")
        #expect(findings.first?.what.contains("--accept-loss cell-2") == true, "\(findings)")
        let accepted = try cells.cluster().check(lossIn: "cell-2")
        #expect(accepted.map(\.isMended) == [true], "\(accepted)")
        #expect(try cells.cluster().check().isEmpty)
        #expect(try status().status == 0)
        #expect(try hub.value("SELECT count(*) FROM analytics.events") == Int64(2))
        // What comes then is seen as before.
        try add(to: 1)
        #expect(try status().status == 0)
        try cells.keep(1)
        try add(to: 1)
        #expect(try status().status == 0)
        try cells.restore(1)
        #expect(try status().status == 1)
    }

    @Test("a running service finds it, says it, and hubs show an error from then on")
    func service() throws {
        defer { drop() }
        try cells.keep(1)
        try add(to: 1)
        let service = try Bellwether(cells.databases[0]).serve("--only", "ingest")
        let isSeen = try eventually {
            try hub.value("SELECT count(*) FROM cluster.seen WHERE cell = 2 AND batch = 2", as: Int64.self) == 1
        }
        #expect(isSeen)
        try cells.restore(1)
        let isFound = eventually { service.log.contains("it was restored from a backup") }
        #expect(isFound, "\(service.log)")
        #expect(try refusal("SELECT count(*) FROM analytics.events")?.contains("restored") == true)
        #expect(try service.stop() == 0)
    }

    @Test("one that has all that was committed is not found out")
    func whole() throws {
        defer { drop() }
        #expect(try status().status == 0)
        try cells.keep(1)
        try cells.restore(1)
        try add(to: 1)
        #expect(try status().status == 0)
        #expect(try refusal("SELECT count(*) FROM analytics.events") == nil)
    }
}
