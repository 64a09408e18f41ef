import Accounts
import CatalogueSupport
import EventLog
import Foundation
import HTTPServer
import Postgres
import Projections
import Reports
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Finding one's way") struct FindingTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    private func links(_ page: String) -> [String] {
        page.matches(of: /href="([^"]*)"/).map { String($0.1).replacingOccurrences(of: "&amp;", with: "&") }
    }

    @Test("chosen days, and those compared, stay on the way to every other page, and back from an install") func days()
        throws
    {
        let chosen = DayRange(shop.today.advanced(by: -9), shop.today.advanced(by: -2))
        let fields = "from=\(chosen.first)&to=\(chosen.last)"
        for path in [
            "/app/shop/category?category=SALE&", "/app/shop/campaign?campaign=autumn&", "/app/shop/quality?", "/?",
        ] {
            let page = try shop.client.get(path + fields).body
            // Those that show more or other days say so: presets, single reports, the deliveries of a day.
            let elsewhere = links(page).filter { link in
                (link.hasPrefix("/app/") || link == "/" || link.hasPrefix("/?")) && !link.contains("format=")
            }
            #expect(elsewhere.contains { $0 == "/?\(fields)" })
            for tab in [
                "/app/shop", "/app/shop/category", "/app/shop/goal", "/app/shop/versions", "/app/shop/installs",
            ] {
                if path == "/?" { continue }
                #expect(elsewhere.contains("\(tab)?\(fields)"), "\(path): \(tab)")
            }
        }
        #expect(links(try shop.client.get("/?\(fields)").body).contains("/app/shop?\(fields)"))
        // From the deliveries of one of the days to an install and back.
        let trend = try shop.client.get("/app/shop?\(fields)").body
        let day = try #require(links(trend).first { $0.contains("/deliveries?") && $0.contains("after=") })
        #expect(day.contains(fields))
        let deliveries = try shop.client.get(day).body
        let install = try #require(links(deliveries).first { $0.contains("/install?") })
        #expect(try links(shop.client.get(install).body).contains("/app/shop?\(fields)"))
    }

    @Test("a link says exactly which days, although nobody chose them") func exactly() throws {
        for path in ["/", "/app/shop", "/app/shop/category?category=SALE", "/app/shop/installs"] {
            let page = try shop.client.get(path).body
            let link = try #require(page.firstMatch(of: /class="exactly"><a href="([^"]*)"/)).1
            let address = String(link).replacingOccurrences(of: "&amp;", with: "&")
            #expect(address.contains("from=") && address.contains("to="), "\(path)")
            let same = try shop.client.get(address).body
            let heading = try #require(page.firstMatch(of: /<h1>.*<\/h1>\n<p>[^<]*<\/p>/))
            #expect(same.contains(String(heading.0)), "\(path)")
        }
    }

    @Test("days before the first on record are not drawn, but those without deliveries after it are") func drawn() {
        func scope(from first: Int?, byReceipt: Bool = false) -> Scope {
            var state = PageState(.app, app: "shop")
            state.days = DayRange(28, upTo: shop.today)
            var scope = Scope(
                state, app: nil, today: shop.today, settled: DaysSettled(hours: 0, events: 1000), compares: true,
                firstKnownDay: first.map { shop.today.advanced(by: -$0) })
            scope.isByReceipt = byReceipt
            return scope
        }
        let row = shop.today.advanced(by: -3)
        #expect(scope(from: 9).onRecord(from: row) == DayRange(10, upTo: shop.today))
        #expect(scope(from: nil).onRecord(from: row).first == row)
        #expect(scope(from: 9, byReceipt: true).onRecord(from: row).first == row)
        #expect(scope(from: 90).onRecord(from: row).count == 28)
        // Of ten known days, five can be compared with five.
        #expect(scope(from: 9).comparable == DayRange(5, upTo: shop.today) && scope(from: 90).comparable == nil)
        #expect(scope(from: 0).comparable == nil && scope(from: nil).comparable == nil)
        let grid = Grid(
            ["day", "delivered"], ["date", "bigint"],
            [Grid.Row([.day(row), .integer(5)], ["day": 0, "delivered": 1])])
        let chart = FunnelParts.trend("Deliveries", .count, "delivered", grid, scope(from: 9), .day)
        #expect(chart.points.map(\.value) == [0, 0, 0, 0, 0, 0, 5, 0, 0, 0])
        #expect(FunnelParts.beginning(of: [chart], scope(from: 9))?.contains("Nothing is on record before") == true)
        #expect(FunnelParts.beginning(of: [chart], scope(from: 90)) != nil)
    }

    @Test("one of 500 categories is found by a part of its name, with the same verdicts as in the whole list")
    func found() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let now = WallClock.now
        let names = (0..<500).map { "NEWS_\($0)" }
        let events = (names + ["Spring_Sale", "100%_off"]).enumerated().map { place, name in
            Event.sample(
                at: now + Int64(place), receivedAt: now, category: name,
                interaction: .received(Receipt(via: .serviceExtension)))
        }
        _ = try database.appender().append([app.submission(events, receivedAt: now)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let client = HTTPClient(look)
        func rows(_ search: String) throws -> [String] {
            let page = try client.get("/app/shop/category?search=\(search)").body
            return page.matches(of: /\/app\/shop\/category\?[^"]*category=([^"&]*)"/).map { String($0.1) }
        }
        #expect(try rows("sALe") == ["Spring_Sale"])
        #expect(try rows("%25_o") == ["100%25_off"] && rows("_49").count == 11)
        #expect(try rows("nothing").isEmpty && rows("").count == 100)
        #expect(try client.get("/app/shop/category?search=sale").body.contains("1 category has “sale” in the name."))
        let csv = try client.get("/app/shop/category?search=_49&table=categories&format=csv").body
        #expect(csv.components(separatedBy: "\r\n").count == 13)
        // The app's own page leads there, with a form that needs no script.
        let summary = try client.get("/app/shop").body
        #expect(summary.contains("action=\"/app/shop/category\"") && summary.contains("name=\"search\""))
    }
}
