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
        let app = try database.makeApp("shop")
        for place in 1...5 {
            let (category, campaign) = (try app.word(.category, "C\(place)"), try app.word(.campaign, "K\(place)"))
            let counts = ["delivered": 10 * place, "received": 5 * place]
            try app.insert("category_funnel", counts.merging(["category": category]) { $1 })
            try app.insert("campaign_funnel", counts.merging(["campaign": campaign]) { $1 })
        }
        var analyst = try database.connect(as: TestPostgres.analyst)
        var reader = ReportReader(app: "shop", period: .day(Self.day), now: Self.day.start.later(hours: 33))
        let whole = try reader.read(on: &analyst)
        #expect(whole.categories.map(\.name) == ["C5", "C4", "C3", "C2", "C1"])
        #expect(whole.campaigns.map(\.name) == ["K5", "K4", "K3", "K2", "K1"])
        #expect(whole.otherCategories == nil && whole.otherCampaigns == nil)
        #expect(!JSONDocument(whole).text.contains("other_"))

        reader.bound.entries = 2
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

    @Test("name the largest of what else is chosen outside, and sum the rest with its number")
    func others() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        try app.insert("install_days", ["active": 30])
        for place in 1...5 {
            let campaign = try app.word(.campaign, "K\(place)")
            try app.insert(
                "category_funnel",
                ["category": try app.word(.category, "C\(place)"), "delivered": 100 * place, "suppressed": place])
            try app.insert(
                "thread_funnel",
                [
                    "thread": try app.word(.thread, "T\(place)"), "items": place, "delivered": 10 * place,
                    "received": place,
                ])
            try app.insert(
                "version_funnel",
                ["app_version": try app.word(.appVersion, "\(place)"), "delivered": 10 * place, "received": 5 * place])
            try app.insert("silent_funnel", ["campaign": campaign, "woken": 10 * place, "new_data": place])
            try app.insert("story_funnel", ["campaign": campaign, "stories": 10 * place, "started": place])
            try app.insert(
                "muted_after", ["category": 0, "campaign": campaign, "installs": 2 * place, "received_nothing": place])
        }
        let (whole, cut) = try read(in: database, entries: 2)
        #expect(cut.threads == Array(whole.threads.prefix(2)) && cut.threads.map(\.name) == ["T5", "T4"])
        #expect(cut.otherThreads?.entries == 3)
        #expect(cut.otherThreads?.counts.items == 6)
        #expect(cut.otherThreads?.counts.counts == FunnelCounts(delivered: 60, received: 6))
        #expect(cut.versions == Array(whole.versions.prefix(2)) && cut.versions.map(\.version) == ["5", "4"])
        #expect(cut.otherVersions == RestOfList(entries: 3, counts: FunnelCounts(delivered: 60, received: 30)))
        #expect(cut.suppressed == Array(whole.suppressed.prefix(2)))
        #expect(cut.otherSuppressed?.entries == 3)
        #expect(cut.otherSuppressed?.counts.suppressed == Rate(6, of: 600))
        #expect(cut.silent == Array(whole.silent.prefix(2)) && cut.silent.map(\.campaign) == ["K5", "K4"])
        #expect(cut.otherSilent?.entries == 3)
        #expect([cut.otherSilent?.counts.woken, cut.otherSilent?.counts.newData] == [60, 6])
        #expect(cut.stories == Array(whole.stories.prefix(2)) && cut.stories.map(\.campaign) == ["K5", "K4"])
        #expect(cut.otherStories?.entries == 3)
        #expect([cut.otherStories?.counts.stories, cut.otherStories?.counts.started] == [60, 6])
        #expect(cut.permissions.mutedAfter == Array(whole.permissions.mutedAfter.prefix(2)))
        #expect(cut.permissions.otherMuted?.entries == 3)
        #expect(
            [cut.permissions.otherMuted?.counts.installs, cut.permissions.otherMuted?.counts.receivedNothing] == [
                12, 6,
            ])
        let rests = ["threads", "versions", "suppressed", "silent", "stories", "muted_after"]
        let (all, some) = (JSONDocument(whole).text, JSONDocument(cut).text)
        #expect(rests.filter { all.contains("\"other_\($0)\"") } == [])
        #expect(rests.filter { !some.contains("\"other_\($0)\":{\"entries\":3,") } == [])
        let text = TextDocument(Page(cut)).text(inColour: false)
        for rest in ["groups", "versions", "kinds of story"] {
            #expect(text.contains("3 more \(rest) have 60 deliveries"))
        }
        #expect(text.contains("3 more campaigns have 60 pushes"))
    }

    @Test("name the largest buttons of a category, variants of a campaign and pages of a story, and sum the rest")
    func parts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let (category, campaign) = (try app.word(.category, "C"), try app.word(.campaign, "K"))
        try app.insert("category_funnel", ["category": category, "delivered": 150])
        try app.insert("story_funnel", ["campaign": campaign, "stories": 100])
        for place in 1...5 {
            try app.insert(
                "category_actions",
                [
                    "category": category, "action_id": try app.word(.actionID, "A\(place)"),
                    "tapped_deliveries": 10 * place,
                    "taps": 20 * place,
                ])
            try app.insert(
                "campaign_funnel",
                [
                    "campaign": campaign, "variant": try app.word(.variant, "V\(place)"), "delivered": 10 * place,
                    "received": place,
                ])
            try app.insert("story_page_funnel", ["campaign": campaign, "page_index": place - 1, "last": place])
        }
        let (whole, cut) = try read(in: database, parts: 2)
        let (all, some) = (try #require(whole.categories.first), try #require(cut.categories.first))
        #expect(some.actions == Array(all.actions.prefix(2)) && some.actions.map(\.id) == ["A5", "A4"])
        #expect(all.otherActions == nil && some.otherActions?.entries == 3)
        #expect([some.otherActions?.counts.tappedDeliveries, some.otherActions?.counts.taps] == [60, 120])
        let (campaigns, listed) = (try #require(whole.campaigns.first), try #require(cut.campaigns.first))
        #expect(listed.variants == Array(campaigns.variants.prefix(2)) && listed.variants.map(\.name) == ["V5", "V4"])
        #expect(campaigns.otherVariants == nil && listed.counts == campaigns.counts)
        #expect(listed.otherVariants == RestOfList(entries: 3, counts: FunnelCounts(delivered: 60, received: 6)))
        let (stories, story) = (try #require(whole.stories.first), try #require(cut.stories.first))
        #expect(story.pages == Array(stories.pages.prefix(2)) && story.pages.map(\.index) == [0, 1])
        #expect(stories.pages.count == 5 && stories.otherPages == nil)
        #expect(story.otherPages?.entries == 3)
        #expect(story.otherPages?.counts.reached == stories.pages.dropFirst(2).reduce(0) { $0 + $1.reached })
        let json = JSONDocument(cut).text
        for rest in ["actions", "variants", "pages"] { #expect(json.contains("\"other_\(rest)\":{\"entries\":3,")) }
    }

    /// The report as it is, and with bounds for its lists.
    private func read(
        in database: TestDatabase, entries: Int64 = 200, parts: Int64 = 20
    ) throws -> (whole: Report, cut: Report) {
        var analyst = try database.connect(as: TestPostgres.analyst)
        var reader = ReportReader(app: "shop", period: .day(Self.day), now: Self.day.start.later(hours: 33))
        let whole = try reader.read(on: &analyst)
        reader.bound = ListBound(entries: entries, parts: parts)
        return (whole, try reader.read(on: &analyst))
    }
}
