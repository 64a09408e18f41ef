import Testing
import Values

@testable import Reports

@Suite("A day or a week")
struct PeriodTests {
    @Test(
        "a week belongs to the year of its Thursday, and week 1 is the one with 4 January",
        arguments: [
            ("2026-W01", "2025-12-29"), ("2026-W47", "2026-11-16"), ("2026-W53", "2026-12-28"),
            ("2027-W01", "2027-01-04"), ("2020-W53", "2020-12-28"), ("1969-W01", "1968-12-30"),
        ])
    func weeks(name: String, monday: String) throws {
        let week = try #require(Week(name))
        #expect("\(week.monday)" == monday && week.description == name)
        for place in 0..<7 { #expect(Week(of: week.monday.advanced(by: place)) == week) }
        #expect(Period.week(week).days == week.monday...week.monday.advanced(by: 6))
        #expect(Period.week(week).length == 7 && Period.week(week).name == name)
    }

    @Test(
        "what is no week is none",
        arguments: ["2025-W53", "2026-W54", "2026-W00", "2026-W1", "2026W47", "2026-w47", "", "47", "2026-W047"])
    func none(name: String) { #expect(Week(name) == nil) }

    @Test("every day is in one week, and its number goes up by one from Monday to Monday")
    func all() throws {
        var day = try #require(CivilDate(year: 1999, month: 12, day: 27))
        var before = Week(of: day.advanced(by: -1))
        for _ in 0..<2_000 {
            let week = Week(of: day)
            #expect(week.monday == day && Week(week.description) == week)
            #expect(
                week.number == before.number + 1
                    || week.number == 1 && week.year == before.year + 1 && before.number >= 52)
            (before, day) = (week, day.advanced(by: 7))
        }
    }
}
