import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@Suite("The fold and the recount")
struct VerifiedFoldTests {
    @Test("agree on random histories, and after installs were erased and months dropped")
    func losses() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for (year, month) in [(2024, 2), (2025, 3), (2025, 4), (2025, 9), (2025, 10), (2025, 11)] {
            try database.make(TestDatabase.month(year, month))
        }
        let stored = try StoredHistories(seeds: 1_000..<1_060, in: database)
        let control = ProjectionControl(url: try database.url(), log: .silent)
        #expect(try control.catchUp().stopped.isEmpty)
        let untouched = try verify(database)

        for history in stored.histories.prefix(8) {
            let event = try #require(history.events.first)
            let app: Int32 = try database.value("SELECT id FROM log.app WHERE slug = \(event.app)")
            let receipt = try ErasureRun(control).run(app: app, install: event.event.source.installID)
            #expect(receipt.deliveries > 0)
        }
        let erased = try verify(database)
        #expect(erased.events < untouched.events)

        var sealed = 0
        try RetentionRun(control).run(days: 30, now: TestDatabase.noon(2025, 8, 1)) { outcome in
            #expect(outcome.isDropped)
            sealed += outcome.sealed
        }
        #expect(sealed > 20)
        #expect(try control.catchUp().stopped.isEmpty)
        let retained = try verify(database)
        #expect(retained.deliveries < erased.deliveries && retained.deliveries > 50)
    }

    private func verify(_ database: TestDatabase) throws -> VerificationReport {
        var connection = try database.session(nil)
        let report = try Verifier().verify(on: &connection)
        #expect(report.isProved, "\(report)")
        return report
    }
}
