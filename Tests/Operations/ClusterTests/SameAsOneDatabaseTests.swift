import Accounts
import Foundation
import Postgres
import Reports
import Simulation
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

/// One after another, as both databases keep the reports that are made.
@Suite("What people read on a hub is what they read in one database", .serialized)
struct SameAsOneDatabaseTests {
    private let told: SimulatedHub

    init() throws { told = try SimulatedHub.get() }

    @Test("every query of the analysts' guide has the same rows")
    func guide() throws {
        let queries = try AnalystsGuide.queries()
        #expect(queries.count == 25)
        var filled = 0
        for query in queries {
            let asked = AnalystsGuide.asADashboardAsks(
                query, of: "aurora-news", during: "current_date - 7 AND current_date"
            ).replacing("current_date", with: "date '\(told.today)'")
            let (found, wanted) = (
                try told.rows(asked, in: told.hub).sorted(), try told.rows(asked, in: told.whole).sorted()
            )
            #expect(found == wanted, "\(query): \(Set(found).symmetricDifference(wanted).sorted().prefix(4))")
            if !wanted.isEmpty { filled += 1 }
        }
        #expect(filled >= 21, "\(filled)")
    }

    /// A text without the positions of the log that it names.
    private func withoutPositions(_ text: String, of report: Report) -> String {
        text.replacing("position \(report.position)", with: "position P")
            .replacing("\"position\":\(report.position)", with: "\"position\":P")
            .replacing("\"position\": \(report.position)", with: "\"position\": P")
            .replacing(",\(report.position),", with: ",P,")
    }

    @Test("reports of days and weeks say the same in every format, and are kept on the hub")
    func reports() throws {
        var hub = try told.hub.session(.reporter)
        var whole = try told.whole.session(.reporter)
        for app in told.apps.map(\.slug) {
            let week = Week(of: told.today.advanced(by: -7))
            for period in [Period.day(told.today.advanced(by: -2)), .day(told.today.advanced(by: -1)), .week(week)] {
                let found = try Reporter(app: app, period: period, now: told.now).make(on: &hub)
                let wanted = try Reporter(app: app, period: period, now: told.now).make(on: &whole)
                for format in ReportFormat.allCases {
                    let lines = [found, wanted].map { made in
                        withoutPositions(made.documents[format], of: made.report).split(separator: "\n")
                    }
                    #expect(
                        lines[0] == lines[1],
                        "\(app) \(period) \(format): \(zip(lines[0], lines[1]).first { $0 != $1 }.map { "\($0)" } ?? "")"
                    )
                    #expect(!lines[1].isEmpty)
                }
                #expect(wanted.report.headline.counts.delivered > 0)
            }
        }
    }

    @Test("pages show the same", arguments: PageState.Page.allCases)
    func pages(_ page: PageState.Page) throws {
        let source = PageSource(settled: SettledApps(), now: told.now)
        let other = PageSource(settled: SettledApps(), now: told.now)
        var hub = try told.hub.session(.analyst)
        var whole = try told.whole.session(.analyst)
        for state in try states(of: page) {
            // Numbers of batches stand on these, and elsewhere only beside and in links to kept reports.
            let isAboutLog = [.quality, .reports, .live].contains(page)
            let texts = [
                LookDocument(try source.sight(state, on: &hub)).text,
                LookDocument(try other.sight(state, on: &whole)).text,
            ].map { text in
                isAboutLog
                    ? text.replacing(/[0-9]+/, with: "0")
                    : text.replacing(/(position=)[0-9]+([^\n]*?<\/th><td class="number"><bdi>)[0-9,]+/) {
                        "\($0.output.1)P\($0.output.2)P"
                    }.replacing(/position=[0-9]+/, with: "position=P")
            }
            if page == .live {
                // Its events come in the order of commits, of which there are more.
                #expect(texts.allSatisfy { $0.contains("Events arrive.") && $0.contains("data-feed") })
            } else {
                let lines = texts.map { $0.split(separator: "\n") }
                #expect(
                    lines[0] == lines[1],
                    "\(state.address): \(zip(lines[0], lines[1]).first { $0 != $1 }.map { "\($0)" } ?? "")")
            }
        }
    }

    private func states(of page: PageState.Page) throws -> [PageState] {
        guard page != .overview else { return [PageState()] }
        return try told.apps.map(\.slug).flatMap { app in
            let plain = PageState(page, app: app)
            guard let (filter, names) = try names(on: page, of: app) else { return [plain] }
            return names.map { plain.with([filter: $0]) }
        }
    }

    /// What a page is about, if it is about one thing.
    private func names(on page: PageState.Page, of app: String) throws -> (PageState.Filter, [String])? {
        switch page {
        case .category:
            (
                .category,
                try told.whole.column(
                    "SELECT DISTINCT category FROM analytics.category_funnel WHERE app = \(app) AND category <> '' ORDER BY 1 LIMIT 3"
                )
            )
        case .story:
            (
                .campaign,
                try told.whole.column(
                    "SELECT DISTINCT campaign FROM analytics.story_funnel WHERE app = \(app) AND campaign <> '' ORDER BY 1 LIMIT 3"
                )
            )
        case .campaign:
            (
                .campaign,
                try told.whole.column(
                    "SELECT DISTINCT campaign FROM analytics.campaign_funnel WHERE app = \(app) AND campaign <> '' ORDER BY 1 LIMIT 3"
                )
            )
        default: nil
        }
    }
}
