import Accounts
import Postgres
import Registry
import Sends
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The report of a day whose buttons and sends are known")
struct NamedReportTests {
    /// A Friday.
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!
    private static let now = day.start.later(hours: 24 + 9)

    private static let categories = """
        {"categories": [
            {"id": "INFO", "content_extension": true, "custom_dismiss": true, "actions": [
                {"id": "TRACK", "titles": {"de": "Verfolgen", "en": "Track it"}, "answer": "accept"},
                {"id": "CONTACT", "titles": {"en": "Call us"}, "answer": "later"},
                {"id": "HELP", "titles": {"en": "Help"}, "answer": "close"}]},
            {"id": "NEWS", "actions": [
                {"id": "MORE", "titles": {"en": "More"}}, {"id": "LESS", "titles": {"en": "Less of it"}}, {"id": "NEVER", "titles": {"en": "Never"}}]}]}
        """
    /// The first page was to stand for two seconds, and so it did; the next ones for five.
    private static let sends = """
        {"sends": [
            {"id": "1", "campaign": "black-friday", "sent_at": "2026-11-20T10:59:00Z", "recipients": 20, "payload": {
                "pw_stories": {"pages": [
                    {"image": "https://shop.example/1.jpg", "title": "Half off", "duration": 2},
                    {"image": "2.jpg", "title": "Nobody sees this"},
                    {"image": "https://shop.example/3.jpg", "title": "Shoes", "link": "https://shop.example"},
                    {"image": "https://shop.example/4.jpg"}]}}},
            {"id": "2", "campaign": "spring", "sent_at": "2026-11-20T09:00:00Z", "recipients": 60},
            {"id": "3", "campaign": "spring", "variant": "b", "sent_at": "2026-11-20T09:00:00Z", "recipients": 30},
            {"id": "4", "campaign": "sync", "sent_at": "2026-11-20T13:00:00Z", "recipients": 5}]}
        """

    @Test(
        "says what they are called, what became of them on all days, and what was sent; and is kept as another report")
    func names() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var shop = try ReportedHistory(in: database)
        shop.addFourWeeks(before: Self.day)
        shop.addOrders(on: Self.day)
        shop.addNews(on: Self.day)
        shop.addStories(on: Self.day)
        shop.addSilentPushes(on: Self.day)
        _ = try shop.store()
        let before = try make(on: database)
        #expect(
            before.report.categories.allSatisfy { $0.buttons.isEmpty && $0.answers.isEmpty && $0.dismissRate == nil })
        #expect(before.report.campaigns.allSatisfy { !$0.isToldFromTheSend })

        try register(Self.categories, for: shop.app, in: database)
        var session = try database.session(.ingest)
        let sends = try SendsDecoder().decode(envelope: Array(Self.sends.utf8)).map { try $0.get() }
        _ = try SendStore.append(
            sends, SendStore.Arrival(app: shop.app.id, key: nil, receivedAt: Self.now), on: &session)
        let after = try make(on: database)
        #expect(after.keeping.isNew && after.report.position == before.report.position)
        #expect(try make(on: database).keeping.isAsBefore)

        let report = after.report
        #expect(report.headline.counts == before.report.headline.counts)
        #expect(report.stackDepths == before.report.stackDepths)
        // HELP closes, so engagement is compared; nobody tapped it.
        #expect(before.report.headline.previous?.engagement == nil)
        #expect(report.headline.previous?.engagement?.rate == report.headline.previous?.responseRate)
        try expectButtons(report.categories)
        // Those of NEWS began on this day, which has not settled.
        #expect(before.report.deadActions.map(\.category) == ["INFO"])
        #expect(report.deadActions.map(\.title) == ["Call us"])
        try expectPages(report)
        #expect(report.campaigns.map(\.name) == ["", "spring", "black-friday", "sync"])
        #expect(report.campaigns.map(\.sent) == [nil, 90, 20, 5])
        // A hundred of spring were delivered: of the two sends together they are ten too many.
        #expect(report.campaigns.map(\.contradictions) == [[], ["delivered over sent"], [], []])
        // What woke phones is no share of what was sent.
        #expect(report.campaigns.map(\.deliveryRate) == [nil, 100.0 / 90, 0.4, nil])

        // One that is taken away is no dead button.
        try register(
            Self.categories.replacing(
                #"{"id": "CONTACT", "titles": {"en": "Call us"}, "answer": "later"},"#, with: ""),
            for: shop.app, in: database)
        let last = try make(on: database).report
        #expect(last.deadActions.isEmpty)
        #expect(last.categories[1].buttons.first { $0.id == "CONTACT" }?.verdict == .retired)
    }

    private func expectButtons(_ categories: [CategorySummary]) throws {
        #expect(categories.map(\.name) == ["NEWS", "INFO", "PW_STORIES"])
        // 13 were expanded or tapped on the day, 19 tapped before it.
        // When they were registered is the clock's.
        let buttons = categories[1].buttons.map { button in
            var timeless = button
            timeless.registered = nil
            return timeless
        }
        #expect(
            buttons == [
                Button(
                    id: "TRACK", position: 1, title: "Track it", answer: "accept", exposures: 32, tappedDeliveries: 11,
                    taps: 12, tapRate: 0.3438, verdict: .tapped),
                Button(
                    id: "CONTACT", position: 2, title: "Call us", answer: "later", exposures: 32, tappedDeliveries: 19,
                    taps: 19, tapRate: 0.5938, verdict: .tapped),
                Button(
                    id: "HELP", position: 3, title: "Help", answer: "close", exposures: 32, tappedDeliveries: 0,
                    taps: 0, tapRate: 0, verdict: .tooFew, rateBound: categories[1].buttons.last?.rateBound),
            ])
        let bound = try #require(categories[1].buttons.last?.rateBound)
        // Rounded up to four places, because it is a bound.
        #expect((0..<0.0001).contains(bound - TwoProportions.bound(ofNoneIn: 32)!))
        #expect(categories[0].buttons.map(\.verdict) == [.tapped, .exposureUnknown, .mayBeCutOff])
        #expect(categories[0].buttons.map(\.title) == ["More", "Less of it", "Never"])
        #expect(categories.map(\.answers) == [[], [.init(answer: "accept", tappedDeliveries: 11, taps: 12)], []])
        #expect(categories.map(\.dismissRate) == [nil, 0.03, nil])
    }

    private func expectPages(_ report: Report) throws {
        let story = try #require(report.stories.first)
        #expect(story.pages.map(\.title) == ["Half off", "Shoes", nil])
        #expect(story.pages.map(\.declaredMilliseconds) == [2_000, 5_000, 5_000])
        #expect(story.pages.map(\.autoAdvances) == [4, 0, 0])
        #expect(story.pages.map(\.manualAdvances) == [0, 2, 0])
        #expect(story.pages.map(\.unexplainedAdvances) == [0, 0, 0])
        #expect(
            story.faults == [
                .init(declaredIndex: 1, kind: .noImage), .init(declaredIndex: 2, kind: .linkWithoutButton),
            ])
    }

    private func register(_ document: String, for app: TestApp, in database: TestDatabase) throws {
        var session = try database.session(.ingest)
        _ = try Registrar.register(CategoryDocument(Array(document.utf8)), of: app.id, on: &session)
    }

    private func make(on database: TestDatabase) throws -> Reporter.Made {
        var connection = try database.session(.reporter)
        return try Reporter(app: "shop", period: .day(Self.day), now: Self.now).make(on: &connection)
    }
}
