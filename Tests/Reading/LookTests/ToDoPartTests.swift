import Accounts
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

/// What the reports ask to do, on the first page of an app, and the days that pages open on.
@Suite("What to do, on pages") struct ToDoPartTests {
    /// So few events that a week is assumed until a day has settled.
    private struct Shop {
        let database: TestDatabase
        let look: Look
        let today: CivilDate
        /// The last two settled days. SALE was sent on both.
        var days: [CivilDate] { [9, 8].map { today.advanced(by: -$0) } }

        init() throws {
            database = try TestDatabase.make()
            let app = try database.makeApp("shop")
            let now = WallClock.now
            today = CivilDate(daysSince1970: Int(now.microseconds / 86_400_000_000))
            for back in [20, 9, 8, 1] {
                let day = today.advanced(by: -back)
                let noon = Timestamp(microseconds: Int64(day.daysSince1970) * 86_400_000_000 + 43_200_000_000)
                try database.run("SELECT log.make_partition(date_trunc('month', date '\(day)')::date)")
                let receipt = Event.sample(
                    at: noon, category: "SALE", interaction: .received(Receipt(via: .serviceExtension)))
                _ = try database.appender().append([app.submission([receipt], receivedAt: noon)])
            }
            _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
            var reporter = try database.session(.reporter)
            _ = try Reporter(app: "shop", period: .day(today.advanced(by: -1)), now: now).make(on: &reporter)
            look = try LookedAt.open(database)
        }

        func page(_ address: String) throws -> String { try HTTPClient(look).get(address).body }

        /// What stands under "What to do".
        func part() throws -> Substring {
            let page = try page("/app/shop")
            let start = try #require(page.range(of: ">What to do</h2>"))
            let end = try #require(page.range(of: ">In short</h2>"))
            return page[start.upperBound..<end.lowerBound]
        }

        /// Keeps the report under another day, with other things to do.
        func keep(_ day: CivilDate, _ toDo: String) throws {
            try database.run(
                """
                INSERT INTO report.kept (app, day, position, made_at, is_final, received_engaged, content,
                    as_text, as_markdown, as_html, as_json, as_csv)
                SELECT app, '\(day)', position, made_at, is_final, received_engaged, '\(day)',
                    as_text, as_markdown, as_html, jsonb_set(as_json::jsonb, '{to_do}', '\(toDo)')::text, as_csv
                FROM report.kept ORDER BY id LIMIT 1;
                INSERT INTO report.told (report, day, delivered, received, responded, received_responded, dismissed,
                    stories, stories_completed, woken)
                SELECT max(id), '\(day)', 1, 1, 0, 0, 0, 0, 0, 0 FROM report.kept
                """)
        }
    }

    @Test(
        "it says what the reports ask, in their words and with a way to them, until a later day that had it asks no more"
    )
    func asks() throws {
        let shop = try Shop()
        defer {
            shop.look.stop(deadline: .now)
            shop.database.drop()
        }
        #expect(try shop.part().contains("nothing here says what to do"))
        let deed =
            #"[{"place":1,"what":"Mend <b> of SALE: 9 of 9","ask":"Mend <b> of SALE","section":"Stories","deliveries":9,"#
            + #""day":null,"subject":"category","name":"SALE"}]"#
        try shop.keep(shop.days[0], deed)
        let asked = try shop.part()
        #expect(asked.contains("Mend &lt;b&gt; of SALE: 9 of 9 (report on ") && asked.contains("“Stories”)."))
        let link = try #require(asked.firstMatch(of: /<a href="([^"]*position=[0-9]+[^"]*)">/))
        let report = try shop.page(String(link.1).replacingOccurrences(of: "&amp;", with: "&"))
        #expect(report.contains("Push notifications of this day"))
        #expect(try shop.page("/app/shop?table=to_do&format=csv").contains("Mend <b> of SALE: 9 of 9"))
        try shop.keep(shop.days[1], "[]")
        let mended = try shop.part()
        #expect(!mended.contains("of SALE: 9 of 9 (report") && mended.contains("calls for action."))
    }

    @Test("the page of all apps opens on settled days, too, says which it leaves out, and leads to those up to today")
    func overview() throws {
        let shop = try Shop()
        defer {
            shop.look.stop(deadline: .now)
            shop.database.drop()
        }
        let page = try shop.page("/")
        #expect(page.contains("name=\"to\" value=\"\(shop.days[1])\""))
        #expect(page.contains("Left out, since they still change: ") && page.contains(">Up to today<"))
        #expect(try !shop.page("/?from=\(shop.today.advanced(by: -27))&to=\(shop.today)").contains("Left out"))
    }

    @Test("terms are explained where they stand, once a page")
    func terms() throws {
        let shop = try LookedAt.get()
        let summary = try shop.client.get("/app/shop").body
        #expect(summary.components(separatedBy: "Receipt coverage: the share of deliveries").count == 2)
        let category = try shop.client.get("/app/shop/category?category=SALE").body
        #expect(
            category.contains("Sole: deliveries whose only response") && category.contains("Exposures (who saw it): "))
        let campaign = try shop.client.get("/app/shop/campaign?campaign=autumn").body
        #expect(campaign.contains("Negative: receipts that are dated before the sending"))
    }
}
