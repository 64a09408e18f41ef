import CatalogueSupport
import Envelopes
import EventLog
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The report of a hand-written day")
struct ReportByHandTests {
    /// A Friday.
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!

    @Test("says what everybody can count")
    func byHand() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        // Another app on the same days, which must not be seen.
        var other = try ReportedHistory("other", in: database)
        for install in 1...3 as ClosedRange<UInt64> {
            let delivery = ReportedHistory.Delivery(
                install: install, notification: other.notification(category: "INFO", campaign: "spring"))
            other.add(.received(Receipt(via: .serviceExtension)), Self.day.start.later(hours: 10), of: delivery)
            other.add(.opened(launch: .cold), Self.day.start.later(hours: 11), of: delivery)
        }
        let otherBatches = try other.store()

        var shop = try ReportedHistory(in: database)
        shop.addFourWeeks(before: Self.day)
        shop.addOrders(on: Self.day)
        shop.addNews(on: Self.day)
        shop.addStories(on: Self.day)
        shop.addSilentPushes(on: Self.day)
        shop.addWrongClock(on: Self.day)
        let refused = [RejectionReason.tooOld, .tooOld, .invalidID].enumerated().map { place, reason in
            RejectedEvent(id: nil, rejection: Rejection(reason, ""), raw: "\(place)")
        }
        let now = Self.day.start.later(hours: 24 + 9, minutes: 59)
        let batches = try shop.store(
            rejected: refused, drops: [ClientDrop(id: .random(), count: 12, since: nil, reason: .age)], repeats: 1)
        let report = try shop.report(of: Self.day, now: now)

        #expect(report.app == "shop")
        #expect(report.day == Self.day)
        #expect(report.timeZone == "UTC")
        #expect(report.position == batches + otherBatches)
        #expect(report.madeAt == now)
        #expect(report.restated == [])
        #expect(!report.isEmpty)
        try expectHeadline(report.headline)
        expectSettling(report.settling)
        expectCategories(report.categories)
        expectLists(report)
        expectStories(report)
        expectVersions(report.versions)
        expectPeople(report)
    }

    @Test("its week carries what the days so far ask for, as their reports have it now") func week() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var shop = try ReportedHistory(in: database)
        shop.addFourWeeks(before: Self.day)
        shop.addOrders(on: Self.day)
        shop.addNews(on: Self.day)
        shop.addStories(on: Self.day)
        _ = try shop.store()
        // On Saturday the Sunday has not begun.
        let now = Self.day.start.later(hours: 24 + 9, minutes: 59)
        let week = Week(of: Self.day)
        var analyst = try database.connect(as: TestPostgres.analyst)
        let days = try (0..<6).map { place in
            try ReportReader(app: "shop", period: .day(week.monday.advanced(by: place)), now: now).read(on: &analyst)
        }
        let report = try ReportReader(app: "shop", period: .week(week), now: now).read(on: &analyst)
        let told = { (deed: Deed) in "\(deed.day as Any) \(deed.what)" }
        #expect(report.carried.map(told) == ToDoSection.open(days).map(told))
        #expect(report.carried.contains { $0.day == Self.day }, "\(report.carried)")
    }

    private func expectHeadline(_ headline: Headline) throws {
        #expect(
            headline.counts
                == FunnelCounts(
                    delivered: 314, received: 114, expanded: 8, opened: 261, actionTapped: 12, storyActionTapped: 2,
                    responded: 274, receivedResponded: 74, dismissed: 3, unanswered: 37, suppressed: 5,
                    mediaAttached: 6))
        let previous = try #require(headline.previous)
        #expect(previous.days == [Self.day.advanced(by: -1)])
        #expect(previous.delivered == 40)
        #expect(previous.responseRate == 0.25)
        #expect(previous.pooled == Rate(10, of: 40))
        #expect(previous.receiptCoverage == 1)
        // A tenth of the day is still to come, and nobody told of those days when they were as fresh.
        #expect(previous.age == .now && previous.verdict == .unsettled)
        let weekdays = try #require(headline.usual)
        #expect(weekdays.days == [7, 14, 21, 28].map { Self.day.advanced(by: -$0) })
        // 43, 42, 40 and 40, of which 40 each have a receipt; 10, 11, 11 and 11 of those responded.
        #expect(weekdays.delivered == 41)
        #expect(weekdays.responseRate == 0.275)
        #expect(weekdays.pooled == Rate(43, of: 160))
        let coverage: Double = (1 + 40.0 / 42) / 2
        #expect(weekdays.receiptCoverage == coverage)
        #expect(weekdays.verdict == .unsettled)
    }

    private func expectSettling(_ settling: Settling) {
        #expect(settling.hoursSinceEnd == 9)
        // 28 days of 40 receipts and 10 openings, of which 5 come in the thirtieth hour; 5 without receipt, 19 taps.
        #expect(settling.events == 1_424)
        let share: Double = 1_284.0 / 1_424
        #expect(settling.share.map { abs($0 - share) < 1e-9 } == true)
        // Too few receipts come to tell theirs apart? 28 days of 40 are enough.
        #expect(settling.receiptShare.map { $0 > share } == true)
        #expect(settling.hoursTo95 == 30)
        #expect(settling.hoursTo99 == 30)
    }

    private func expectCategories(_ categories: [CategorySummary]) {
        #expect(categories.map(\.name) == ["NEWS", "INFO", "PW_STORIES", "CLOCK"])
        #expect(
            categories.map(\.counts) == [
                FunnelCounts(
                    delivered: 205, received: 5, opened: 200, actionTapped: 1, responded: 200, unanswered: 5,
                    suppressed: 5),
                FunnelCounts(
                    delivered: 100, received: 100, expanded: 2, opened: 60, actionTapped: 11, responded: 71,
                    receivedResponded: 71, dismissed: 3, unanswered: 26),
                FunnelCounts(
                    delivered: 8, received: 8, expanded: 6, storyActionTapped: 2, responded: 2, receivedResponded: 2,
                    unanswered: 6, mediaAttached: 6),
                FunnelCounts(delivered: 1, received: 1, opened: 1, responded: 1, receivedResponded: 1),
            ])
        typealias Launch = CategorySummary.Launch
        #expect(
            categories.map(\.launches) == [
                [Launch(state: "foreground", opened: 200)],
                [Launch(state: "cold", opened: 30), Launch(state: "warm", opened: 20), Launch(state: "", opened: 10)],
                [], [Launch(state: "warm", opened: 1)],
            ])
        #expect(categories.map { $0.actions.map(\.id) } == [["MORE"], ["TRACK"], [], []])
        let track = categories[1].actions[0]
        #expect(track.tappedDeliveries == 11)
        #expect(track.taps == 12)
        #expect(track.foregroundTaps == 1)
        #expect(track.timed == 11)
        #expect(track.medianSeconds.map { abs($0 - 10) <= 1 } == true)
        #expect(categories[0].actions[0].timed == 0)
        #expect(categories[0].actions[0].medianSeconds == nil)
    }

    private func expectLists(_ report: Report) {
        // The day itself has not settled, and the buttons of NEWS were seen on no other.
        #expect(
            report.deadActions == [
                DeadAction(
                    category: "INFO", what: .silentSince(id: "CONTACT", days: 10), delivered: 363,
                    bound: TwoProportions.bound(ofNoneIn: 363)!)
            ])
        #expect(report.campaigns.map(\.name) == ["", "spring", "black-friday"])
        let news = report.categories[0].counts
        var unnamed = news
        unnamed.delivered += 1
        unnamed.received += 1
        unnamed.opened += 1
        unnamed.responded += 1
        unnamed.receivedResponded += 1
        #expect(
            report.campaigns.map(\.counts) == [unnamed, report.categories[1].counts, report.categories[2].counts])
        #expect(report.threads.map(\.name) == ["", "orders"])
        #expect(report.threads.map(\.items) == [214, 102])
        #expect(report.threads.map(\.counts.delivered) == [214, 100])
        #expect(report.threads.map(\.counts.receivedResponded) == [3, 71])
        #expect(report.suppressed == [Suppressed(category: "NEWS", suppressed: Rate(5, of: 205))])
        #expect(
            report.silent == [
                SilentSummary(campaign: "sync", woken: 3, newData: 1, noData: 1, failed: 0, noResult: 1)
            ])
        #expect(
            report.media == [
                MediaSummary(kind: "video", network: "cellular", outcome: "attached", deliveries: 6, responded: 2),
                MediaSummary(kind: "video", network: "cellular", outcome: "timed_out", deliveries: 2, responded: 0),
            ])
    }

    private func expectStories(_ report: Report) {
        var story = StorySummary(
            category: "PW_STORIES", campaign: "black-friday", stories: 6, started: 5, completed: 2,
            exits: .init(clicked: 2, finished: 2, fallback: 1, abandoned: 1))
        story.pages = [
            .init(
                index: 0, planned: 5, reached: 5, shown: 5, views: 5, clicked: 0, exited: 1, dwellMilliseconds: 8_000,
                dwells: 4),
            .init(
                index: 1, planned: 5, reached: 4, shown: 4, views: 4, clicked: 2, exited: 0, dwellMilliseconds: 10_000,
                dwells: 4),
            .init(
                index: 2, planned: 5, reached: 2, shown: 2, views: 2, clicked: 0, exited: 0, dwellMilliseconds: 4_000,
                dwells: 2),
        ]
        // Nobody says why they went on.
        (story.pages[0].unexplainedAdvances, story.pages[1].unexplainedAdvances) = (4, 2)
        #expect(report.stories == [story])
        #expect(
            report.fallbackCost
                == FallbackCost(fallback: Rate(0, of: 1), shown: Rate(2, of: 5), verdict: .smallSample))
    }

    private func expectVersions(_ versions: [VersionSummary]) {
        #expect(versions.map(\.version) == ["4.3.0", "4.2.0"])
        #expect(versions.map(\.platform) == ["ios", "ios"])
        #expect(versions.map(\.counts.receiptCoverage) == [Rate(5, of: 205), Rate(109, of: 109)])
        // The new one is held against all of its platform on the seven days before; three of those had no receipt.
        #expect(versions.map(\.before) == [Rate(280, of: 283), Rate(280, of: 283)])
        #expect(versions.map(\.isNew) == [true, false])
        #expect(versions.map(\.isAlarm) == [true, false])
    }

    private func expectPeople(_ report: Report) {
        // 1 to 305 and 400; 1 to 8 got a story too.
        var reach = ReachedInstalls()
        (reach.reached, reach.responding, reach.pushesP50, reach.pushesP95) = (306, 272, 1, 1)
        #expect(report.reach == reach)
        #expect(report.hours.map(\.hour) == Array(0..<24))
        let busy = report.hours.filter { $0.response.whole > 0 }
        #expect(
            busy == [
                Hour(hour: 10, response: Rate(71, of: 100)),
                Hour(hour: 11, response: Rate(2, of: 8)),
                Hour(hour: 12, response: Rate(0, of: 5)),
                Hour(hour: 15, response: Rate(1, of: 1)),
            ])
        // 418 of the day, and five openings of the day before yesterday. What was refused came the day after.
        #expect(report.quality.accepted == 423)
        #expect(report.quality.corrected == 2)
        #expect(report.quality.clamped == 0)
        #expect(report.quality.late == 5)
        #expect(report.quality.rejected + report.quality.duplicate + report.quality.clientDropped == 0)
    }
}
