import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

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
            #expect(receipt.own.deliveries > 0)
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

        // Whether shards share a table of the copy makes no difference.
        let url = try database.url()
        for eventsPerTable: Int64 in [1, 100, 1_000_000] {
            let report = try Verifier(eventsPerTable: eventsPerTable).verify(lanes: 3) {
                try Connection(url: url)
            }
            #expect(report.isProved && report.shards.count == Int(TestDatabase.shards))
            #expect(
                (report.events, report.deliveries, report.cells) == (
                    retained.events, retained.deliveries, retained.cells
                ))
        }
    }

    @Test("agree on a delivery with more taps and pages than count one by one")
    func crowds() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (start, install) = (Event.sampleTime, UUID.random())
        var events = (0..<1_500).map { place in
            Event.sample(
                at: start + Int64(place) * 1_000_000, install: install,
                interaction: .actionTapped(ActionTap(actionID: place.isMultiple(of: 3) ? "A" : "B")))
        }
        events += (0..<1_500).map { place in
            Event.sample(
                at: start + Int64(place) * 1_000_000 + 7, install: install,
                interaction: .pageShown(PageShown(pageIndex: Int16(place % 50))))
        }
        // After the first 1,000 taps, and before the last of each button.
        events.append(
            .sample(
                at: start + 1_200_000_000, install: install, interaction: .received(Receipt(via: .serviceExtension))))
        let control = ProjectionControl(url: try database.url(), log: .silent)
        let appender = try database.appender()
        for part in [events[2_000...], events[..<700], events[700..<2_000]] {
            _ = try appender.append([app.submission(Array(part))])
            #expect(try control.catchUp().stopped.isEmpty)
            _ = try verify(database)
        }
        #expect(try database.value("SELECT sum(taps)::bigint FROM analytics.category_actions", as: Int64.self) == 1_500)
        let views = try database.value("SELECT sum(views)::bigint FROM analytics.story_page_funnel", as: Int64.self)
        #expect(views == 1_000)
        #expect(try database.value("SELECT max(length(state)) FROM projection.delivery", as: Int32.self) < 60_000)
    }

    private func verify(_ database: TestDatabase) throws -> VerificationReport {
        var connection = try database.session(nil)
        let report = try Verifier().verify(on: &connection)
        #expect(report.isProved, "\(report)")
        return report
    }
}
