import Accounts
import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Registry
@testable import Reports

@Suite("Engagement leaves out who only closed")
struct EngagementTests {
    /// What happened to each delivery: its category, whether a receipt came, and what was tapped; "open" is the
    /// notification.
    private static let deliveries: [(category: String, isReceived: Bool, taps: [String])] = [
        ("SALE", true, ["CLOSE"]), ("SALE", true, ["CLOSE", "BUY"]), ("SALE", false, ["CLOSE"]),
        ("SALE", true, ["NO", "NO"]),
        ("SALE", true, ["NO", "open"]), ("SALE", true, ["LATER"]), ("SALE", true, ["BUY"]), ("SALE", true, []),
        ("SALE", true, ["UNKNOWN"]), ("SALE", true, ["CLOSE", "NO"]),
        // Nothing is registered of this category.
        ("OTHER", true, ["CLOSE"]),
    ]

    private static let sale = Category(
        id: "SALE",
        buttons: [
            .titled("BUY", answer: .accept), .titled("NO", answer: .decline), .titled("LATER", answer: .later),
            .titled("CLOSE", answer: .close),
        ])

    private static func append(to app: TestApp, in database: TestDatabase) throws {
        var events: [Event] = []
        for (place, delivery) in deliveries.enumerated() {
            let install = UUID.random()
            func add(_ interaction: Interaction, _ seconds: Int64) {
                var event = Event.sample(
                    at: Event.sampleTime + seconds * 1_000_000, install: install, category: delivery.category,
                    interaction: interaction)
                event.notification.campaign = "autumn"
                event.notification.variant = place.isMultiple(of: 2) ? "a" : "b"
                event.notification.thread = place < 5 ? "promo" : nil
                events.append(event)
            }
            if delivery.isReceived { add(.received(Receipt(via: .serviceExtension)), 0) }
            for (place, tap) in delivery.taps.enumerated() {
                add(tap == "open" ? .opened(launch: nil) : .actionTapped(ActionTap(actionID: tap)), Int64(place) + 1)
            }
        }
        _ = try database.appender().append([app.submission(events)])
        let control = ProjectionControl(url: try database.url(), log: .silent)
        #expect(try control.catchUp().stopped.isEmpty)
    }

    @Test("in all funnels, as the buttons are registered when somebody reads")
    func funnels() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try Self.append(to: app, in: database)
        func sale() throws -> [String] {
            try app.rows(
                "responded, received_responded, engaged, received_engaged, engagement_rate", "category_funnel",
                by: "category")
        }
        /// What a view says otherwise than a plain count of the deliveries.
        func differing(_ view: String, _ keys: String, where condition: String = "true") throws -> [String] {
            try database.analystRows(
                """
                SELECT * FROM (
                    SELECT \(keys), engaged, received_engaged, engagement_rate FROM \(view) WHERE \(condition)
                ) AS told
                FULL JOIN (
                    SELECT \(keys), count(*) FILTER (WHERE engaged) AS engaged,
                        count(*) FILTER (WHERE received AND engaged) AS received_engaged,
                        round(count(*) FILTER (WHERE received AND engaged)::numeric / count(*) FILTER (WHERE received),
                            4)
                            AS engagement_rate
                    FROM deliveries GROUP BY \(keys)
                ) AS counted USING (\(keys), engaged, received_engaged, engagement_rate)
                WHERE told IS NULL OR counted IS NULL
                """)
        }
        func expectAgreement() throws {
            #expect(try differing("category_funnel", "category") == [])
            #expect(try differing("thread_funnel", "thread") == [])
            #expect(try differing("version_funnel", "platform, app_version") == [])
            #expect(try differing("campaign_funnel", "campaign, variant") == [])
            #expect(try differing("stack_depth_funnel", "day", where: "scope = 'app'") == [])
        }
        #expect(try sale() == ["(1,1,1,1,1.0000)", "(9,8,9,8,0.8889)"])
        try expectAgreement()

        try app.register(Self.sale)
        // Of SALE, two taps of CLOSE alone and one delivery with NO alone; one that closed and declined has several
        // actions.
        #expect(try sale() == ["(1,1,1,1,1.0000)", "(9,8,6,6,0.6667)"])
        #expect(
            try app.rows("category, action_id, tapped_deliveries, sole, received_sole", "category_actions", by: "1, 2")
                == [
                    "(OTHER,CLOSE,1,1,1)", "(SALE,BUY,2,1,1)", "(SALE,CLOSE,4,2,1)", "(SALE,LATER,1,1,1)",
                    "(SALE,NO,3,1,1)", "(SALE,UNKNOWN,1,1,1)",
                ])
        try expectAgreement()
        #expect(
            try database.analystRows("SELECT sum(engaged) <= sum(responded), sum(engaged) FROM campaign_funnel")
                == ["(t,7)"])

        // A button that is retired says nothing any more.
        try app.register(
            Category(id: "SALE", buttons: [.titled("BUY", answer: .accept), .titled("NO", answer: .decline)]))
        #expect(try sale().last == "(9,8,8,7,0.7778)")
        try expectAgreement()
    }

    @Test("in the words of the report, which leads with it where a closing button is registered, and not elsewhere")
    func report() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try Self.append(to: app, in: database)
        func page() throws -> (report: Report, text: String) {
            var connection = try database.connect()
            let now = Event.sampleTime + 40 * 3_600_000_000
            let report = try ReportReader(
                app: app.slug, period: .day(CivilDate(year: 2026, month: 11, day: 20)!), now: now
            )
            .read(on: &connection)
            return (report, TextDocument(Page(report)).text(inColour: false))
        }
        let before = try page()
        #expect(before.report.closingButtons == nil && !before.text.contains("ngage"))
        try app.register(Self.sale)
        let after = try page()
        #expect(after.report.headline.counts.receivedEngaged == 7 && after.report.headline.counts.received == 10)
        let difference = "Engagement is response without the 2 received deliveries whose only response was a button"
        #expect(after.text.replacing("\n  ", with: " ").ranges(of: difference).count == 1)
        #expect(after.text.contains("Engagement rate"))
        // Nobody can be dismissed where nothing is registered with custom_dismiss.
        let categories = try #require(Page(after.report).sections.first { $0.title == "Categories" })
        let table = try #require(categories.tables.first)
        let place = try #require(table.columns.firstIndex { $0.title == "Dismissed" })
        #expect(table.rows.map { $0[place].text } == ["–", "–"])
        var dismissing = Self.sale
        dismissing.customDismiss = true
        try app.register(dismissing)
        let reported = try #require(Page(try page().report).sections.first { $0.title == "Categories" }?.tables.first)
        #expect(reported.rows.map { $0[place].text } == ["0", "–"])
        let campaigns = try #require(Page(try page().report).sections.first { $0.title == "Campaigns" }?.tables.first)
        #expect(campaigns.rows.map { $0[place].text } == ["0"])
    }
}

extension Page.Section {
    fileprivate var tables: [Table] {
        blocks.compactMap { block in if case .table(let table) = block { table } else { nil } }
    }
}
