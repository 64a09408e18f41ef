import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The report of a day that retention has sealed")
struct SealedReportTests {
    private static let receipt = Interaction.received(Receipt(via: .serviceExtension))

    /// Three deliveries: opened, with a story that fell back, and with one that was shown. A silent one besides.
    private func addThree(_ at: Timestamp, to history: inout ReportedHistory) {
        let notification = history.notification(category: "PW_STORIES", campaign: "autumn")
        let plots: [[Interaction]] = [
            [.opened(launch: .cold)], [.fallbackShown(reason: .malformed)], [.storyStarted(StoryStart(pageCount: 1))],
        ]
        for (install, plot) in plots.enumerated() {
            let delivery = ReportedHistory.Delivery(install: UInt64(install + 1), notification: notification)
            history.add(Self.receipt, at, of: delivery)
            for interaction in plot { history.add(interaction, at.later(minutes: 1), of: delivery) }
        }
        let silent = ReportedHistory.Delivery(install: 9, notification: history.notification(campaign: "sync"))
        history.add(.received(Receipt(via: .background, fetchResult: .newData)), at, of: silent)
    }

    @Test("keeps its sums and tells nothing of single deliveries, also where only some of them are gone")
    func sealed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for month in [11, 12] { try database.make(TestDatabase.month(2025, month)) }
        var history = try ReportedHistory(timeZone: "America/New_York", in: database)
        let whole = TestDatabase.noon(2025, 11, 20)
        // Fourteen hours after noon it is December in UTC, by which months are dropped, and not yet in New York.
        let part = TestDatabase.noon(2025, 11, 30)
        let later = TestDatabase.noon(2025, 12, 10)
        for moment in [whole, part, part.later(hours: 14), later] { addThree(moment, to: &history) }
        _ = try history.store()
        let days = [whole, part, later].map { CivilDate(daysSince1970: Int($0.microseconds / 86_400_000_000)) }
        let now = TestDatabase.noon(2026, 1, 20)
        let before = try days.map { try history.report(of: $0, now: now) }
        #expect(before.map(\.headline.counts.delivered) == [3, 6, 3])
        for report in before {
            #expect(!report.isSealed && report.fallbackCost != nil && report.reach.reached == 3)
            #expect(report.campaigns.map(\.name) == ["autumn"] && report.hours.count == 24)
            #expect(report.stackDepths.count >= 2)
            #expect(report.categories.map(\.launches.count) == [1])
        }
        var outcomes: [RetentionRun.RemovedMonth] = []
        try RetentionRun(ProjectionControl(url: try database.url(), log: .silent)).run(days: 30, now: now) {
            outcomes.append($0)
        }
        #expect(outcomes.map(\.month) == [TestDatabase.month(2025, 11)] && outcomes.allSatisfy(\.isDropped))
        #expect(outcomes.map(\.sealed) == [8])
        let after = try days.map { try history.report(of: $0, now: now) }
        #expect(after.map(\.isSealed) == [true, true, false])
        for (before, after) in zip(before, after) {
            var expected = before
            // Of the log, which is shorter now.
            (expected.position, expected.settling, expected.quality) = (after.position, after.settling, after.quality)
            if after.isSealed {
                // What is not read is not compared either.
                (expected.stackCost, expected.comparisons) = (nil, after.comparisons)
                (expected.isSealed, expected.stackDepths, expected.hours) = (true, [], [])
                (expected.fallbackCost, expected.reach, expected.timeOfDay) = (nil, ReachedInstalls(), nil)
                for place in expected.categories.indices { expected.categories[place].launches = [] }
            }
            #expect(after == expected)
            let text = ReportFormat.markdown.document(of: after)
            #expect(text.contains("Retention dropped") == after.isSealed)
            #expect(!text.contains("campaigns, installs"))
        }
        // A day that was sealed before there was a funnel of campaigns.
        try database.run("DELETE FROM projection.campaign_funnel WHERE generation = 0")
        let older = try days.map { try history.report(of: $0, now: now) }
        #expect(older.map(\.campaigns.isEmpty) == [true, true, false])
        for (report, after) in zip(older, after) where report.isSealed {
            var expected = after
            expected.campaigns = []
            #expect(report == expected)
            #expect(ReportFormat.markdown.document(of: report).contains("Its sums remain, but campaigns, installs"))
        }
    }
}
