import Foundation
import Reports
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Goals, pressure and versions") struct GoalPageTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    private func page(_ path: String) throws -> String {
        let answer = try shop.client.get(
            "/app/shop\(path)&from=\(shop.today.advanced(by: -20))&to=\(shop.today.advanced(by: -2))")
        #expect(answer.status == 200, "\(path)")
        return answer.body
    }

    @Test("what a goal means stands before its figures; its rates are of all notifications, its money is exact")
    func goal() throws {
        let whole = try #require(
            shop.database.analystRows("SELECT sum(responded), sum(received) FROM category_funnel").first)
        let counts = whole.dropFirst().dropLast().split(separator: ",").compactMap { Int64($0) }
        let shown = try page("/goal?goal=order")
        let words =
            "order came within 24 hours after 60 of \(Wording.count(counts[0])) notifications that were answered ("
        let parts = [
            words, "740.40 EUR", "what followed notifications", "Within which time", "Day by day", "By campaign",
        ]
        let places = try parts.map { part in try #require(shown.range(of: part)?.lowerBound, "\(part)") }
        #expect(places == places.sorted())
        #expect(shown.contains("half came within 15 min"))
        let csv = try shop.client.get(
            "/app/shop/goal?goal=order&table=goals&format=csv&from=\(shop.today.advanced(by: -20))&to=\(shop.today.advanced(by: -2))"
        ).body
        let share = Double(60) / Double(counts[0])
        #expect(csv.contains("order,response,\(counts[0]),60,"))
        #expect(csv.contains(String(format: "60,%.6f", share)) && csv.contains("740.40"))
        // No row of the funnel has a category without such a goal, so the base must come from elsewhere.
        let cells = try #require(
            shop.database.analystRows(
                "SELECT sum(responded) FROM goal_funnel WHERE goal = 'order' AND rule = 'response'"
            ).first)
        #expect(cells != "(\(counts[0]))")
        let list = try page("/goal?rule=receipt")
        #expect(list.contains(">order<") && list.contains(">purchase<") && list.contains("table=reached"))
        let all = try page("/goal?table=reached")
        #expect(all.contains(">115<") && all.contains(">60<"))
    }

    @Test("pressure is read when somebody asks for it, and says why the plain rate misleads") func pressure() throws {
        #expect(try !page("/category?category=SALE").contains("Against usual"))
        let asked = try page("/category?category=SALE&table=pressure")
        #expect(asked.contains("Against usual") && asked.contains("As they answer others"))
        func words(_ steps: [(Int64, Int64, Int64, Double)]) -> PressureWords {
            PressureWords(
                steps.map { pressure, answered, received, expected in
                    let rate = Rate(answered, of: received)
                    return .init(pressure: pressure, response: rate, compared: rate, expected: expected)
                })
        }
        // Eager people get more, and each one more costs answers: the plain rate rises, and people answer less.
        let selected = words([(1, 1000, 10_000, 1000), (4, 1500, 10_000, 1900)])
        #expect(selected.meaning.hasPrefix("people answered less than they usually do at 4 in 24 hours (−8.4 %); "))
        // What people never answer much tells nothing about how many they got.
        let dull = words([(1, 100, 1000, 200), (4, 100, 1000, 200)])
        #expect(
            dull.meaning.contains("no difference is beyond chance")
                && dull.category?.contains("0.50 times as often") == true)
        #expect(selected.plainRate?.contains("from 10.0 % at 1 to 15.0 % at 4. Do not plan by it") == true)
        let same = words([(1, 1000, 10_000, 1000), (10, 1500, 10_000, 1505)])
        #expect(
            same.meaning.contains("no difference is beyond chance") && same.plainRate?.contains("10 or more") == true)
        #expect(words([(1, 5, 99, 2)]).meaning.contains("too few") && words([]).plainRate == nil)
        // More answered than compared, or nothing expected, is no share: it must not trap.
        #expect(words([(1, 500, 200, 0), (2, 500, 200, 3)]).meaning.isEmpty == false)
    }

    @Test("two versions stand side by side: the newer of the busiest two, or those that were chosen") func versions()
        throws
    {
        let shown = try page("/versions?platform=ios")
        #expect(shown.contains("<option value=\"4.2.0\" selected>") && shown.contains("with 4.2.0, "))
        #expect(shown.contains("Engagement rate: ") && shown.contains("the dashed one 4.1.9"))
        let chosen = try page("/versions?version=4.1.9&against=4.2.0&table=by_category")
        #expect(chosen.contains("with 4.1.9, ") && chosen.contains(">Difference<"))
        #expect(try page("/versions?version=4.1.9&against=4.1.9").contains("Choose two different versions."))
        #expect(try page("/versions?version=9&against=4.1.9").contains("9 has no deliveries in these days."))
        let order = ["", "4", "4.1.9", "4.9", "4.9.1", "4.10"]
        for (place, version) in order.enumerated() {
            for later in order[(place + 1)...] {
                #expect(VersionsPage.Pair.isOlder(version, than: later), "\(version) \(later)")
                #expect(!VersionsPage.Pair.isOlder(later, than: version))
            }
        }
    }

    @Test("money has two decimals, and no sum makes it trap") func money() {
        #expect(Money.text(12_345.6, "EUR") == "12,345.60 EUR" && Money.text(0.005) == "0.01")
        #expect(
            Money.text(.infinity).isEmpty == false && Money.text(.nan).isEmpty == false
                && Money.text(1e30).isEmpty == false)
    }
}
