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
                day: counts(900, 675, 300), weekdays[0]: counts(100, 100, 10), weekdays[1]: counts(0, 0, 0),
                weekdays[3]: counts(203, 100, 40),
            ], day: day, others: weekdays)
        #expect(headline.previous == nil)
        let others = try #require(headline.usual)
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
            ], day: day, others: weekdays)
        #expect(headline.counts == FunnelCounts())
        let previous = try #require(headline.previous)
        #expect(previous.days == [day.advanced(by: -1)])
        #expect(previous.delivered == 5)
        #expect(previous.responseRate == nil)
        #expect(previous.receiptCoverage == 0)
        #expect(previous.verdict == .smallSample)
        let others = try #require(headline.usual)
        #expect(others.delivered == 7)
        #expect(others.responseRate == 0.625)
        let coverage: Double = 4.0 / 7
        #expect(others.receiptCoverage == coverage)
    }

    @Test("a fresh day is compared with reports of days at its age, and gets no verdict against settled days")
    func ages() throws {
        let counts = [
            day: counts(900, 800, 200), day.advanced(by: -1): counts(1000, 890, 150),
            weekdays[0]: counts(1000, 890, 150),
            weekdays[1]: counts(1000, 880, 150),
        ]
        let told = [day.advanced(by: -1): self.counts(890, 790, 149), weekdays[0]: self.counts(880, 780, 140)]
        let headline = Headline(counts: counts, told: told, isSettled: false, day: day, others: weekdays)
        let previous = try #require(headline.previous)
        #expect(previous.age == .same && previous.delivered == 890 && previous.pooled == Rate(149, of: 790))
        guard case .higher = previous.verdict else {
            Issue.record("200 of 800 are more than 149 of 790")
            return
        }
        // One of the weekdays was not told at this age, so all are taken as they are now, which are settled.
        let others = try #require(headline.usual)
        #expect(others.age == .now && others.delivered == 1000 && others.verdict == .unsettled)
        // A settled day is held against what others count now, whatever was told of them.
        let settled = Headline(counts: counts, told: told, isSettled: true, day: day, others: weekdays)
        #expect(settled.previous?.age == .now && settled.previous?.delivered == 1000)
        guard case .higher = settled.usual?.verdict else {
            Issue.record("settled days are judged")
            return
        }
    }

    @Test("if the median and the test of all days together disagree, there is no verdict")
    func divided() throws {
        let headline = Headline(
            counts: [
                day: counts(6000, 6000, 1020), weekdays[0]: counts(8000, 8000, 1600), weekdays[1]: counts(500, 500, 50),
            ], day: day, others: weekdays)
        #expect(try #require(headline.usual).verdict == .divided)
    }

    @Test("rates are not judged if coverage differs by two points or more")
    func otherCoverage() throws {
        func verdict(_ received: Int64) throws -> Significance {
            let headline = Headline(
                counts: [day: counts(1000, received, 50), weekdays[0]: counts(1000, 990, 150)], day: day,
                others: weekdays)
            return try #require(headline.usual).verdict
        }
        #expect(try verdict(971).isLower)
        #expect(try verdict(970) == .otherCoverage(was: 0.99, now: 0.97))
        #expect(try verdict(970).tested == nil)
        #expect(try verdict(970).sentence.contains("97.0 % of deliveries have a receipt, and 99.0 % had one there"))
    }

    @Test("a week is compared with the week before and with four weeks")
    func weeks() throws {
        let monday = try #require(Week("2026-W47")).monday
        let headline = Headline(
            counts: [
                monday: counts(7000, 6000, 600), monday.advanced(by: -7): counts(6000, 5000, 700),
                monday.advanced(by: -1): counts(1, 1, 1),
            ], day: monday, step: 7, others: [7, 14].map { monday.advanced(by: -$0) })
        #expect(headline.previous?.delivered == 6000)
        #expect(headline.usual?.days == [monday.advanced(by: -7)])
        #expect(headline.usual?.name == "the week of Monday 9 November")
    }

    @Test("a day without other days is compared with nothing")
    func alone() {
        let headline = Headline(counts: [day: counts(1, 1, 1)], day: day, others: weekdays)
        #expect(headline == Headline(counts: counts(1, 1, 1)))
    }
}
