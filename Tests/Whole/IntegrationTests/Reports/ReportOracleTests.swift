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
        var analyst = try database.connect(as: TestPostgres.analyst)
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        var (days, openings, weeks) = (0, 0, 0)
        for shop in shops {
            let deliveries = Delivery.all(in: shop.events, timeZone: shop.history.timeZone)
            let funnels = shop.history.funnels
            for (app, own) in Dictionary(grouping: deliveries, by: \.name.app) {
                if let day = own.map(\.facts.day).max(by: { $0.daysSince1970 < $1.daysSince1970 }) {
                    try expectSums(of: Week(of: day), of: app.text, on: &analyst)
                    weeks += 1
                }
                for day in Set(own.map(\.facts.day)) {
                    let now = Timestamp(microseconds: Int64(day.daysSince1970 + 2) * 86_400_000_000)
                    var report = try ReportReader(app: app.text, period: .day(day), now: now).read(on: &analyst)
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
        #expect(weeks > 5)
    }

    /// The report of a week has the sums of its days.
    private func expectSums(of week: Week, of app: String, on analyst: inout Connection) throws {
        let now = Timestamp(microseconds: Int64(week.monday.daysSince1970 + 30) * 86_400_000_000)
        let all = Period.week(week).days
        let days = try (0..<7).map { place in
            try ReportReader(app: app, period: .day(all.lowerBound.advanced(by: place)), now: now).read(on: &analyst)
        }
        let report = try ReportReader(app: app, period: .week(week), now: now).read(on: &analyst)
        func sums<Row>(
            _ rows: (Report) -> [Row], _ name: (Row) -> [String], _ counts: (Row) -> [Int64]
        ) -> (days: [[ExactName]: [Int64]], week: [[ExactName]: [Int64]]) {
            var found: (days: [[ExactName]: [Int64]], week: [[ExactName]: [Int64]]) = ([:], [:])
            for row in days.flatMap(rows) {
                let sum = found.days[name(row).map(ExactName.init)] ?? counts(row).map { _ in 0 }
                found.days[name(row).map(ExactName.init)] = zip(sum, counts(row)).map(+)
            }
            for row in rows(report) { found.week[name(row).map(ExactName.init)] = counts(row) }
            return found
        }
        func funnel(_ counts: FunnelCounts) -> [Int64] {
            counts.facts.compactMap { if case .count(let count) = $0.value { count } else { nil } }
        }
        let found = [
            sums({ [$0.headline.counts] }, { _ in [] }, funnel),
            sums({ $0.categories }, { [$0.name] }, { funnel($0.counts) }),
            sums({ $0.campaigns }, { [$0.name] }, { funnel($0.counts) + [$0.woken] }),
            sums(
                { $0.stories }, { [$0.category, $0.campaign, $0.variant] },
                { [$0.stories, $0.started, $0.completed, $0.exits.clicked, $0.exits.finished, $0.exits.fallback] }),
            sums({ $0.threads }, { [$0.name] }, { funnel($0.counts) + [$0.items] }),
            sums({ $0.versions }, { [$0.platform, $0.version] }, { funnel($0.counts) }),
            sums({ $0.suppressed }, { [$0.category] }, { [$0.suppressed.part, $0.suppressed.whole] }),
            sums({ $0.silent }, { [$0.campaign] }, { [$0.woken, $0.newData, $0.noData, $0.failed, $0.noResult] }),
            sums({ [$0.quality] }, { _ in [] }, { [$0.accepted, $0.duplicate, $0.rejected, $0.late] }),
        ]
        for (place, sum) in found.enumerated() where place != 6 {
            #expect(sum.week == sum.days, "\(week), list \(place)")
        }
        // Days on which nothing was suppressed are not in the list, so its wholes differ.
        #expect(found[6].week.mapValues { $0[0] } == found[6].days.mapValues { $0[0] })
        #expect(report.week == week && report.deadActions.isEmpty && report.hours.isEmpty)
        #expect(!Page(report).title.isEmpty && !JSONDocument(report).text.contains("\"hours\":"))
    }
}
