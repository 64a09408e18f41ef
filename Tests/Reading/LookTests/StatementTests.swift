import Accounts
import CatalogueSupport
import EventLog
import Foundation
import Postgres
import Projections
import Reports
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

/// What a page says in words about its figures.
@Suite("What pages state") struct StatementTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    private func sight(_ state: PageState) throws -> Sight {
        var analyst = try shop.database.session(.analyst)
        return try PageSource(settled: SettledApps(), now: shop.now).sight(state, on: &analyst)
    }

    private func days(_ from: Int, _ to: Int) -> String {
        "\(shop.today.advanced(by: -from))..\(shop.today.advanced(by: -to))"
    }

    private func page(_ path: String, from: Int, to: Int, with: String? = nil) throws -> String {
        try shop.client.get(
            "/app/shop\(path)\(path.contains("?") ? "&" : "?")from=\(shop.today.advanced(by: -from))&to=\(shop.today.advanced(by: -to))"
                + (with.map { "&with=\($0)" } ?? "")
        ).body
    }

    private static func event(
        _ interaction: Interaction, _ notification: Telemetry.Notification, at: Timestamp, install: UInt64
    ) -> Event {
        Event(
            id: .random(), deviceAt: at, occurredAt: at, receivedAt: at, timeSource: .device,
            source: Source(installID: Values.UUID(high: 1, low: install), platform: "ios", appVersion: "4.2.0"),
            notification: notification, interaction: interaction)
    }

    @Test("what an experiment means stands before its arms, its course and its set-up; the app's page leads to it")
    func experiment() throws {
        let address = "/app/shop/experiment?experiment=half"
        for path in ["/app/shop", "/app/shop/experiment"] {
            #expect(try shop.client.get(path).body.contains("href=\"\(address)\""), "\(path)")
        }
        let page = try shop.client.get(address).body
        let words = "Nobody can tell yet whether the pushes of half change purchase: "
        let parts = [words, "treated and", "Width of the interval", "By the end of each day", "Its versions"]
        let places = try parts.map { part in try #require(page.range(of: part)?.lowerBound, "\(part)") }
        #expect(places == places.sorted())
        // The report says the same of the same night.
        let state = PageState(.experiment, app: "shop").with([.experiment: "half"])
        let row = try #require(try sight(state).answers.first { $0.listing.name == "days" }?.grid.rows.last)
        let counts: [String] = try shop.database.analystRows(
            """
            SELECT sum(installs) FILTER (WHERE arm = 'treated'), sum(reached) FILTER (WHERE arm = 'treated'),
                sum(installs) FILTER (WHERE arm = 'control'), sum(reached) FILTER (WHERE arm = 'control')
            FROM experiments WHERE app = 'shop' AND experiment = 'half'
            """)
        let columns = ["treated_installs", "treated_reached", "control_installs", "control_reached"]
        #expect(counts == ["(\(columns.map { "\(row.count($0))" }.joined(separator: ",")))"])
        #expect(row.count("treated_reached") + row.count("control_reached") == 115)
    }

    @Test("that nothing moved is said only of what was judged; else why not, with the days that can be")
    func judged() throws {
        func row(_ engaged: Int64, before: Int64, of all: Int64 = 1000) -> Grid.Row {
            let counts = [
                "received_engaged": engaged, "received": all, "delivered": all, "received_engaged_before": before,
                "received_before": all, "delivered_before": all,
            ]
            let columns = ["category"] + counts.keys.sorted()
            let values: [AnyPostgresValue?] = columns.map { counts[$0].map { .integer($0) } ?? .text("SALE") }
            return Grid.Row(values, Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) }))
        }
        func words(_ rows: [Grid.Row], open: Int) -> String {
            var state = PageState(.app, app: "shop")
            state.days = DayRange(28, upTo: shop.today)
            let settled = DaysSettled(hours: 24 * open, events: 1000)
            let scope = Scope(state, app: nil, today: shop.today, settled: settled, compares: true)
            return Judged(rows, scope).words(state).map { "\($0)" }.joined(separator: "\n")
        }
        #expect(words([row(120, before: 118)], open: 0).contains("Of 1 category that can be judged, none moved"))
        #expect(words([row(220, before: 118)], open: 0).contains("Engagement rose by more than chance: SALE."))
        #expect(words([row(0, before: 0, of: 0)], open: 0).contains("No category has enough deliveries in both ranges"))
        let open = words([row(220, before: 118)], open: 5)
        #expect(open.contains("is not judged: too many of these days still change") && !open.contains("moved"))
        #expect(open.contains("Only the days that have settled"))
        #expect(words([], open: 0).isEmpty)
    }

    @Test("a share is rounded once, where it is shown, so that a table says what the figures above it say")
    func rounded() throws {
        for path in ["", "/category?category=SALE", "/campaign?campaign=autumn", "/installs"] {
            let shown = try page(path, from: 3, to: 2)
            #expect(shown.contains(", 6) AS") && !shown.contains(", 4)"), "\(path)")
        }
    }

    @Test("days are compared with other days; of more days or fewer, by the day") func compared() throws {
        let same = try page("", from: 7, to: 2, with: days(13, 8))
        #expect(same.contains(" from ") && !same.contains(" a day, from "))
        let fewer = try page("/category?category=SALE", from: 7, to: 2, with: days(9, 8))
        #expect(fewer.contains(" a day, from 24 a day"))
        let both = try page("", from: 7, to: 2, with: days(9, 6))
        #expect(both.contains("have days in common"))
        let usual = try shop.client.get("/app/shop?with=\(days(14, 12))")
        #expect(usual.status == 400 && usual.body.contains("have days in common"))
    }

    @Test("nothing is compared with days before the log begins, nor days that have not settled with others")
    func incomparable() throws {
        var state = PageState(.app, app: "shop")
        state.days = DayRange(7, upTo: shop.today.advanced(by: -14))
        func words(_ state: PageState, from first: Int, open: Int) throws -> String {
            let scope = Scope(
                state, app: nil, today: shop.today, settled: DaysSettled(hours: 24 * open, events: 1000),
                compares: true,
                firstKnownDay: shop.today.advanced(by: -first))
            let listing = Listing(
                "totals", "Totals",
                """
                SELECT 'chosen' AS days, 700 AS delivered, 650 AS received, 100 AS received_responded,
                    90 AS received_engaged
                UNION ALL SELECT 'compared', 500, 490, 60, 50
                """)
            var analyst = try shop.database.session(.analyst)
            let answer = try analyst.answer(listing, for: state)
            return "\(scope.comparison) \(FunnelParts.figures(answer, scope))"
        }
        // The seven days before end 21 days ago and begin 27 days ago.
        #expect(try words(state, from: 27, open: 1).contains("+40.0 % from 500"))
        let early = try words(state, from: 26, open: 1)
        #expect(
            early.contains("nothing to compare with") && early.contains("the log begins on") && !early.contains("+40"))
        state.days = DayRange(shop.today, shop.today)
        let fresh = try words(state, from: 60, open: 2)
        #expect(
            fresh.contains("too early to compare") && fresh.contains("Too early to compare") && !fresh.contains("+40"))
        #expect(!fresh.contains("falls"))
    }

    @Test("pages that compare open on days that have settled, and say which they leave out")
    func opening() {
        func scope(_ page: PageState.Page, from first: Int, chosen: DayRange? = nil) -> Scope {
            var state = PageState(page, app: "shop")
            state.days = chosen
            return Scope(
                state, app: nil, today: shop.today, settled: DaysSettled(hours: 60, events: 1000),
                compares: page == .app, firstKnownDay: shop.today.advanced(by: -first))
        }
        let opened = scope(.app, from: 90)
        #expect(opened.days == DayRange(28, upTo: shop.today.advanced(by: -4)) && opened.isMostlySettled)
        #expect(opened.firstOpenDay == shop.today.advanced(by: -3) && opened.opensSettled)
        #expect(scope(.app, from: 2).days == DayRange(28, upTo: shop.today))
        #expect(scope(.deliveries, from: 90).days == DayRange(28, upTo: shop.today))
        #expect(!scope(.app, from: 90, chosen: DayRange(shop.today, shop.today)).opensSettled)
    }

    @Test("no table has two columns of one title") func titles() throws {
        for state in PagesTests.addresses(shop) {
            for piece in try sight(state).parts.flatMap(\.pieces) {
                switch piece {
                case .answer(let answer), .source(let answer):
                    let titles = answer.table.columns.map(\.title)
                    #expect(Set(titles).count == titles.count, "\(state.address) \(answer.listing.name): \(titles)")
                default: break
                }
            }
        }
    }

    @Test("a story of nine variants counts them all; its ladders are those of the most stories, each whole")
    func variants() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let now = WallClock.now
        var events: [Event] = []
        for variant in 0..<9 {
            for story in 0..<(variant + 2) {
                let notification = Telemetry.Notification(
                    id: "n-\(variant)-\(story)", category: "S", campaign: "st", variant: "v\(variant)")
                func add(_ interaction: Interaction) {
                    events.append(
                        Self.event(interaction, notification, at: now + Int64(events.count), install: UInt64(story)))
                }
                guard story > 0 else {
                    add(.fallbackShown(reason: .missing))
                    continue
                }
                add(.storyStarted(StoryStart(pageCount: 2)))
                for page in 0..<2 as Range<Int16> { add(.pageShown(PageShown(pageIndex: page))) }
                add(.storyActionTapped(StoryActionTap(pageIndex: 1)))
            }
        }
        _ = try database.appender().append([app.submission(events, receivedAt: now)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let page = try HTTPClient(look).get("/app/shop/story?campaign=st").body
        #expect(page.contains("9 stories of 54 fell back"), "\(page.matches(of: /[^>]*fell back[^<]*/).map { $0.0 })")
        let ladders = page.matches(of: /Pages reached, (v[0-9])/).map { String($0.1) }
        #expect(Set(ladders) == ["v3", "v4", "v5", "v6", "v7", "v8"])
        // So many variants are not compared pair by pair in sentences.
        #expect(page.components(separatedBy: " against ").count <= 4)
    }

    @Test("the deliveries behind a version are those of its platform") func platforms() throws {
        let page = try shop.client.get("/app/shop").body
        let links = page.matches(of: /\/app\/shop\/deliveries\?[^"]*version=[^"]*/).map { String($0.0) }
        #expect(!links.isEmpty && links.allSatisfy { $0.contains("platform=ios") })
    }

    @Test("of a campaign of silent pushes it says so") func silent() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let now = WallClock.now
        let woken = Self.event(
            .received(Receipt(via: .background)), Telemetry.Notification(id: "n-1", campaign: "sync"), at: now,
            install: 1)
        _ = try database.appender().append([app.submission([woken], receivedAt: now)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let page = try HTTPClient(look).get("/app/shop/campaign?campaign=sync").body
        #expect(page.contains("1 silent push of this campaign woke the app"))
    }
}
