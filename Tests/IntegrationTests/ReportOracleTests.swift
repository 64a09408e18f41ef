import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Reports of random histories")
struct ReportOracleTests {
    @Test("say of each day of each app what the oracle counts")
    func histories() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let shops = try ShopHistory.histories(seeds: 100...119, in: database)
        let appender = try database.appender()
        for shop in shops {
            _ = try appender.append(shop.events.map { shop.apps[$0.app]!.submission([$0.event]) })
        }
        let control = ProjectionControl(url: try database.url(), log: .silent)
        #expect(try control.catchUp().stopped.isEmpty)
        var analyst = try database.connect(as: TestCluster.analyst)
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        var (days, openings) = (0, 0)
        for shop in shops {
            let deliveries = Delivery.all(in: shop.events, timeZone: shop.history.timeZone)
            let funnels = shop.history.funnels
            for (app, own) in Dictionary(grouping: deliveries, by: \.name.app) {
                for day in Set(own.map(\.facts.day)) {
                    let now = Timestamp(microseconds: Int64(day.daysSince1970 + 2) * 86_400_000_000)
                    var report = try ReportReader(app: app.text, day: day, now: now).read(on: &analyst)
                    #expect(report.position == head)
                    #expect(report.settling.share == nil)
                    // The median is the view's, to a tenth; the view has its own tests.
                    for category in report.categories.indices {
                        for action in report.categories[category].actions.indices {
                            report.categories[category].actions[action].medianSeconds = nil
                        }
                    }
                    let oracle = ReportOracle(
                        shop.history, deliveries: deliveries, funnels: funnels, app: app.text, day: day)
                    let lines = oracle.differences(in: report)
                    #expect(lines.isEmpty, "seed \(shop.seed): \(lines.prefix(3).joined(separator: "; "))")
                    days += 1
                    openings += report.categories.flatMap(\.launches).count
                }
            }
        }
        #expect(days > 30)
        #expect(openings > 10)
    }
}
