import Telemetry
import Testing
import Values

@testable import Reports

@Suite("A day compared with other days")
struct HeadlineTests {
    private let day = CivilDate(daysSince1970: 20_412)
    private var weekdays: [CivilDate] { [7, 14, 21, 28].map { day.advanced(by: -$0) } }

    private func counts(_ delivered: Int64, _ received: Int64, _ responded: Int64) -> FunnelCounts {
        var counts = FunnelCounts()
        (counts.delivered, counts.received, counts.receivedResponded) = (delivered, received, responded)
        return counts
    }

    @Test("medians use the days that had deliveries: the mean of the two in the middle, with counts rounded half up")
    func medians() throws {
        let headline = Headline(
            counts: [
                day: counts(900, 800, 400), weekdays[0]: counts(100, 100, 10), weekdays[1]: counts(0, 0, 0),
                weekdays[3]: counts(203, 100, 40),
            ], day: day, sameWeekdays: weekdays)
        #expect(headline.previousDay == nil)
        let others = try #require(headline.sameWeekdays)
        #expect(others.days == [weekdays[0], weekdays[3]])
        #expect(others.delivered == 152)
        #expect(others.responseRate == 0.25)
        let coverage: Double = (1 + 100.0 / 203) / 2
        #expect(others.receiptCoverage == coverage)
        #expect(others.pooled == Rate(50, of: 200))
        guard case .higher = others.verdict else {
            Issue.record("half is more than a quarter")
            return
        }
    }

    @Test("an odd number of days has one in the middle; a day without receipts has no rate")
    func odd() throws {
        let headline = Headline(
            counts: [
                day.advanced(by: -1): counts(5, 0, 0), weekdays[0]: counts(7, 4, 1), weekdays[1]: counts(9, 0, 0),
                weekdays[2]: counts(1, 1, 1),
            ], day: day, sameWeekdays: weekdays)
        #expect(headline.counts == FunnelCounts())
        let previous = try #require(headline.previousDay)
        #expect(previous.days == [day.advanced(by: -1)])
        #expect(previous.delivered == 5)
        #expect(previous.responseRate == nil)
        #expect(previous.receiptCoverage == 0)
        #expect(previous.verdict == .smallSample)
        let others = try #require(headline.sameWeekdays)
        #expect(others.delivered == 7)
        #expect(others.responseRate == 0.625)
        let coverage: Double = 4.0 / 7
        #expect(others.receiptCoverage == coverage)
    }

    @Test("a fresh day is compared with reports of days at its age, and gets no verdict against settled days")
    func ages() throws {
        let counts = [
            day: counts(900, 800, 200), day.advanced(by: -1): counts(1000, 990, 150),
            weekdays[0]: counts(1000, 990, 150),
            weekdays[1]: counts(1000, 980, 150),
        ]
        let told = [day.advanced(by: -1): self.counts(890, 790, 149), weekdays[0]: self.counts(880, 780, 140)]
        let headline = Headline(counts: counts, told: told, isSettled: false, day: day, sameWeekdays: weekdays)
        let previous = try #require(headline.previousDay)
        #expect(previous.age == .same && previous.delivered == 890 && previous.pooled == Rate(149, of: 790))
        guard case .higher = previous.verdict else {
            Issue.record("200 of 800 are more than 149 of 790")
            return
        }
        // One of the weekdays was not told at this age, so all are taken as they are now, which are settled.
        let others = try #require(headline.sameWeekdays)
        #expect(others.age == .now && others.delivered == 1000 && others.verdict == .unsettled)
        // A settled day is held against what others count now, whatever was told of them.
        let settled = Headline(counts: counts, told: told, isSettled: true, day: day, sameWeekdays: weekdays)
        #expect(settled.previousDay?.age == .now && settled.previousDay?.delivered == 1000)
        guard case .higher = settled.sameWeekdays?.verdict else {
            Issue.record("settled days are judged")
            return
        }
    }

    @Test("if the median and the test of all days together disagree, there is no verdict")
    func divided() throws {
        let headline = Headline(
            counts: [
                day: counts(6000, 6000, 1020), weekdays[0]: counts(8000, 8000, 1600), weekdays[1]: counts(500, 500, 50),
            ], day: day, sameWeekdays: weekdays)
        #expect(try #require(headline.sameWeekdays).verdict == .divided)
    }

    @Test("a day without other days is compared with nothing")
    func alone() {
        let headline = Headline(counts: [day: counts(1, 1, 1)], day: day, sameWeekdays: weekdays)
        #expect(headline == Headline(counts: counts(1, 1, 1)))
    }
}
