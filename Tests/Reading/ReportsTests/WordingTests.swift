import Testing
import Values

@testable import Reports

@Suite("Numbers, times and days as people read them")
struct WordingTests {
    @Test(
        "counts have their thousands separated",
        arguments: [
            (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_002_003, "1,002,003"), (-12_345, "−12,345"),
            (Int64.max, "9,223,372,036,854,775,807"), (Int64.min, "−9,223,372,036,854,775,808"),
        ] as [(Int64, String)]) func count(number: Int64, text: String)
    {
        #expect(Wording.count(number) == text)
    }

    @Test(
        "a share is shown in percent, and a small one is not shown as zero",
        arguments: [
            (nil, "–"), (0, "0 %"), (0.0001, "< 0.1 %"), (0.0006, "0.1 %"), (0.12345, "12.3 %"), (1, "100.0 %"),
            (0.99949, "99.9 %"),
        ] as [(Double?, String)]) func percent(share: Double?, text: String)
    {
        #expect(Wording.percent(share) == text)
    }

    @Test(
        "durations are shown in a fitting unit",
        arguments: [
            (nil, "–"), (0.04, "0.0 s"), (4.25, "4.3 s"), (59.94, "59.9 s"), (59.97, "1 min 0 s"),
            (3599.4, "59 min 59 s"),
            (7500, "2 h 5 min"), (172_800, "2 days"),
        ] as [(Double?, String)]) func duration(seconds: Double?, text: String)
    {
        #expect(Wording.duration(seconds: seconds) == text)
    }

    @Test("a change is shown with its direction, and not at all without a base") func change() {
        #expect(Wording.change(from: 0, to: 5) == nil)
        #expect(Wording.change(from: 100, to: 103) == "+3.0 %")
        #expect(Wording.change(from: 100, to: 97) == "−3.0 %")
        #expect(Wording.change(from: 10_000, to: 10_001) == "±0 %")
        #expect(Wording.points(from: 0.2, to: 0.213) == "+1.3 points")
        #expect(Wording.points(from: 0.2, to: 0.187) == "−1.3 points")
        #expect(Wording.difference(from: 0.2, to: 0.187) == "1.3 points lower")
        #expect(Wording.difference(from: 0.2, to: 0.20001) == "no difference")
        #expect(Wording.movement(from: 0.2, to: 0.213) == "rose 1.3 points")
        #expect(Wording.movement(from: 0.2, to: 0.187) == "fell 1.3 points")
        #expect(Wording.movement(from: 0.2, to: 0.2) == "did not change")
    }

    @Test("weekdays are right, also before 1970") func weekdays() throws {
        #expect(Wording.weekday(try #require(CivilDate(year: 1970, month: 1, day: 1))) == "Thursday")
        #expect(Wording.weekday(try #require(CivilDate(year: 1969, month: 12, day: 28))) == "Sunday")
        #expect(Wording.long(try #require(CivilDate(year: 2026, month: 11, day: 20))) == "Friday 20 November 2026")
    }

    @Test("a probability keeps three digits, and never claims certainty") func probability() {
        #expect(Wording.probability(0.0004) == "p < .001")
        #expect(Wording.probability(0.0312) == "p = .031")
        #expect(Wording.probability(1) == "p = .999")
    }
}
