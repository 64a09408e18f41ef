import Accounts
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Goals and pressure in reports")
struct GoalsReportTests {
    private static let day = CivilDate(year: 2026, month: 11, day: 20)!

    /// What was reached, so many minutes after a receipt of a campaign at noon; a minute after it, some people
    /// responded.
    private func history(in database: TestDatabase) throws -> ReportedHistory {
        var shop = try ReportedHistory(in: database)
        let noon = Self.day.start.later(hours: 12)
        let money:
            [(campaign: String, goal: String, value: Int128?, currency: String?, minutes: Int64, isOpened: Bool)] = [
                ("a", "buy", 10_250_000, "EUR", 30, true), ("a", "buy", 1, "EUR", 90, false),
                ("b", "buy", 5_000_000, "EUR", 10, true),
                ("c", "buy", 1_000_000, "EUR", 10, false), ("b", "buy", 700_000_000, "THB", 2_000, true),
                ("b", "visit", nil, nil, 5, true), ("c", "visit", nil, nil, 5, true),
                ("c", "visit", nil, nil, 70, false),
            ]
        for (place, told) in money.enumerated() {
            let delivery = ReportedHistory.Delivery(
                install: UInt64(place + 1), notification: shop.notification(category: "INFO", campaign: told.campaign))
            shop.add(.received(Receipt(via: .serviceExtension)), noon, of: delivery)
            if told.isOpened { shop.add(.opened(launch: .warm), noon.later(minutes: 1), of: delivery) }
            let goal = Goal(told.goal, value: told.value.map { Int64($0) }, currency: told.currency)
            shop.add(
                .goalReached(goal), noon.later(minutes: told.minutes),
                of: .init(install: UInt64(place + 1), notification: Notification()))
        }
        _ = try shop.store()
        return shop
    }

    @Test("say what followed, by goal and campaign, exactly; a short list tells the rest as sums")
    func goals() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try history(in: database)
        func read(_ bound: ListBound) throws -> Report {
            try database.lending(.reporter) { connection in
                try ReportReader(
                    app: "shop", period: .day(Self.day), now: Self.day.start.later(hours: 100), bound: bound
                ).read(on: &connection)
            }
        }
        let report = try read(ListBound())
        #expect(report.goals.map { "\($0.name) \($0.currency)" } == ["buy EUR", "visit ", "buy THB"])
        #expect(report.goals.map { $0.receipt.converted } == [[3, 4, 4], [2, 3, 3], [0, 0, 1]])
        #expect(report.goals.map { $0.response.converted } == [[2, 2, 2], [2, 2, 2], [0, 0, 1]])
        #expect(
            report.goals.map { $0.receipt.value.map(\.exact) } == [
                ["16.25", "16.250001", "16.250001"], ["0", "0", "0"], ["0", "0", "700"],
            ])
        #expect(report.goals[0].campaigns.map(\.name) == ["a", "b", "c"] && report.otherGoals == nil)
        #expect(report.goals[0].campaigns.map { $0.receipt.convertedInADay } == [2, 1, 1])

        let short = try read(ListBound(entries: 1, parts: 1))
        #expect(short.goals.count == 1 && short.goals[0].receipt == report.goals[0].receipt)
        #expect(short.goals[0].campaigns == [report.goals[0].campaigns[0]])
        let left = try #require(short.goals[0].otherCampaigns)
        #expect(
            left.entries == 2 && left.counts.receipt.converted == [2, 2, 2]
                && left.counts.response.converted == [1, 1, 1])
        let others = try #require(short.otherGoals)
        #expect(others.entries == 2 && others.counts.receipt.goals == [2, 3, 4])
        // Whoever has no goals has no section.
        let other = try ReportedHistory("other", in: database)
        #expect(GoalsSection.words(try other.report(of: Self.day, now: Self.day.start.later(hours: 30))) == nil)
    }

    @Test("a sum of money is exact for programs and rounded to hundredths for people")
    func amounts() {
        let told = [0, 1, 4_999, 5_000, 1_000_000, 184_020_500_000, 999_999_995_000].map { Amount(millionths: $0) }
        #expect(told.map(\.exact) == ["0", "0.000001", "0.004999", "0.005", "1", "184020.5", "999999.995"])
        #expect(
            told.map { $0.words(in: "EUR") } == [
                "0.00 EUR", "0.00 EUR", "0.00 EUR", "0.01 EUR", "1.00 EUR", "184,020.50 EUR", "1,000,000.00 EUR",
            ])
        #expect(Amount(digits: "12")?.exact == "0.000012" && Amount(digits: "1.2") == nil)
    }

    @Test("nothing is judged of few answers, nor of one number alone, and odd counts end nothing")
    func few() {
        func step(_ number: Int, _ rate: Rate, expected: Double) -> Pressure.Step {
            Pressure.Step(
                number: number, received: rate.whole, responded: rate.part, turnedOff: 0, compared: rate,
                expected: expected,
                expectedAlike: expected)
        }
        let good = step(1, Rate(200, of: 1000), expected: 190)
        #expect(Pressure().effect == nil && Pressure(steps: [good]).effect == nil)
        #expect(Pressure(steps: [good, step(2, Rate(9, of: 90), expected: 20)]).effect == nil)
        #expect(Pressure(steps: [good, step(2, Rate(200, of: 1000), expected: 250)]).effect?.sign == -1)
        let odd = [
            step(2, Rate(5, of: 0), expected: 0), step(2, Rate(500, of: 100), expected: .nan),
            step(3, Rate(-1, of: .max), expected: -1),
        ]
        for odd in odd {
            let pressure = Pressure(steps: [good, odd])
            #expect(pressure.effect == nil && pressure.effectOverAll == nil)
            _ = (pressure.crowded, pressure.looksBetter)
        }
    }
}
