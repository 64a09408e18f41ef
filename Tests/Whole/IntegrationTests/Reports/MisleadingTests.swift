import Accounts
import FunnelOracle
import Postgres
import ProjectFolder
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

/// A history whose numbers would make somebody do the wrong thing, and what the report says then. Docs/Experiments.md
/// tells of it in the report's own words; the seed is fixed.
@Suite("Numbers that mislead")
struct MisleadingTests {
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!

    /// The sentences of a section that are not small print.
    private func sentences(_ section: Page.Section?) -> [String] {
        (section?.blocks ?? []).compactMap {
            if case .sentence(let words, let tone) = $0, tone != .note { words } else { nil }
        }
    }

    private func expectGuide(_ words: String) throws {
        let told = try ProjectFolder.text(of: "Docs/Experiments.md").split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(told.contains(words), "\(words)")
    }

    private func add(
        _ events: [(Interaction, Timestamp)], _ install: UInt64, _ notification: Notification,
        to history: inout ReportedHistory
    ) {
        for (interaction, at) in events {
            history.add(interaction, at, of: .init(install: install, notification: notification))
        }
    }

    @Test("the last of five pushes has the goals that would have been reached anyway, and the report says so")
    func lastOfFive() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var shop = try ReportedHistory(in: database)
        var dice = SeededNumbers(seed: 21)
        for install in 1...400 as ClosedRange<UInt64> {
            for (place, hour) in ([9, 12, 15, 18, 21] as [Int64]).enumerated() {
                add(
                    [(.received(Receipt(via: .serviceExtension)), Self.day.start.later(hours: hour))], install,
                    shop.notification(category: "SALE", campaign: "push-\(place + 1)"), to: &shop)
            }
            // Half of them buy once, at any time of the 24 hours after the first push.
            guard Bool.random(using: &dice) else { continue }
            let at = Self.day.start.later(hours: 9, seconds: .random(in: 0..<86_400, using: &dice))
            let goal = Goal("purchase", value: 20 * Millionths.one, currency: "EUR")
            add([(.goalReached(goal), at)], install, Notification(), to: &shop)
        }
        _ = try shop.store()
        let report = try shop.report(of: Self.day, now: Self.day.start.later(hours: 72))
        let goal = try #require(report.goals.first)
        let most = try #require(goal.campaigns.first)
        #expect(most.name == "push-5" && goal.campaigns.count == 5)
        #expect(
            most.receipt.convertedInADay * 2 > goal.campaigns.dropFirst().reduce(0) { $0 + $1.receipt.convertedInADay })
        try expectGuide(
            "\(most.receipt.convertedInADay) of \(goal.receipt.convertedInADay) purchases are put down to the last push"
        )
        let told = sentences(GoalsSection.words(report))
        #expect(told.count == 4)
        for words in told.dropFirst() { try expectGuide(words) }
        #expect(
            told[1].hasPrefix(
                "Half of the installs got 5 notifications or more on this day, and a goal counts for the last"))
        #expect(told[2].hasPrefix("In the first hour came only "))
    }
}
