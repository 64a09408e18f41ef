import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The lists of a report")
struct ReportListTests {
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!

    @Test("name the largest categories and campaigns, and sum the rest with its number")
    func rest() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try ProjectedApp("shop", in: database)
        for place in 1...5 {
            let (category, campaign) = (try app.word(.category, "C\(place)"), try app.word(.campaign, "K\(place)"))
            let counts = ["delivered": 10 * place, "received": 5 * place]
            try app.insert("category_funnel", counts.merging(["category": category]) { $1 })
            try app.insert("campaign_funnel", counts.merging(["campaign": campaign]) { $1 })
        }
        var analyst = try database.connect(as: TestCluster.analyst)
        var reader = ReportReader(app: "shop", period: .day(Self.day), now: Self.day.start.later(hours: 33))
        let whole = try reader.read(on: &analyst)
        #expect(whole.categories.map(\.name) == ["C5", "C4", "C3", "C2", "C1"])
        #expect(whole.campaigns.map(\.name) == ["K5", "K4", "K3", "K2", "K1"])
        #expect(whole.otherCategories == nil && whole.otherCampaigns == nil)
        #expect(!JSONDocument(whole).text.contains("other_"))

        reader.mostListed = 2
        let cut = try reader.read(on: &analyst)
        #expect(cut.categories == Array(whole.categories.prefix(2)))
        #expect(cut.campaigns == Array(whole.campaigns.prefix(2)))
        let rest = RestOfList(entries: 3, counts: FunnelCounts(delivered: 60, received: 30))
        #expect(cut.otherCategories == rest)
        #expect(cut.otherCampaigns == rest)
        // The sums of the day are still those of all of it.
        #expect(cut.headline.counts == whole.headline.counts)
        let json = JSONDocument(cut).text
        #expect(json.contains(#""other_categories":{"entries":3,"delivered":60,"received":30"#))
        #expect(json.contains(#""other_campaigns":{"entries":3,"delivered":60,"received":30"#))
        #expect(TextDocument(Page(cut)).text(inColour: false).contains("3 more categories have 60 deliveries together"))
    }
}
