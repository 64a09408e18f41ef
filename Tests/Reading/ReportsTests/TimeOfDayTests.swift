import Testing
import Values

@testable import Reports

@Suite("Response by the time of day")
struct TimeOfDayTests {
    /// A report on a settled day, with so many responses of all received in each quarter.
    private static func report(_ quarters: [Int64], received: Int64 = 6_000, category: String = "SALE") -> Report {
        var report = SampleReport.small
        report.timeOfDay = TimeOfDay(
            report.day, quarters.enumerated().map { (category, $0.offset, Rate($0.element, of: received)) })
        report.judgeTogether()
        return report
    }

    private static func words(_ report: Report) -> [Block]? { TimeOfDaySection.words(report)?.blocks }

    @Test("a quarter that differs is told, with both rates, before the details")
    func differs() {
        let report = Self.report([600, 600, 600, 960])
        let evening =
            "SALE from 18:00 to 24:00: 16.0 % of 6,000 responded, and 10.0 % of 18,000 in the rest of the day. "
            + "This is more than chance (p < .001)."
        #expect(Self.words(report)?.contains(.sentence(evening, .plain)) == true)
        #expect(Page(report).front.contains { $0.title == "Time of day" })
    }

    @Test("nothing is told of what chance can explain, of few, and of a difference that nobody would act on")
    func likeChance() {
        #expect(Self.words(Self.report([600, 618, 594, 606])) == nil)
        #expect(Self.words(Self.report([6, 6, 6, 18], received: 60)) == nil)
        let huge = Self.report([60_000, 60_000, 60_000, 66_000], received: 600_000)
        #expect(huge.timeOfDay?.quarters.last?.verdict.isHigher == true && Self.words(huge) == nil)
        #expect(Self.words(SampleReport.small) == nil)
    }

    @Test("categories are compared with themselves: that one is sent in the morning and one at night tells nothing")
    func mix() {
        var report = SampleReport.small
        let told = [("DIGEST", 1, Rate(50, of: 1_000)), ("MATCH", 3, Rate(300, of: 1_000))]
        report.timeOfDay = TimeOfDay(report.day, told)
        report.judgeTogether()
        #expect(Self.words(report) == nil)
    }

    @Test("of a thousand days on which all hours are alike, hardly any is told")
    func noFalseAlarm() {
        var seed: UInt64 = 7
        /// Numbers that are the same in each run.
        func next() -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return seed >> 33
        }
        let told = (0..<1_000).count { _ in
            let quarters = (0..<4).map { _ in Int64((0..<240).count { _ in next() % 100 < 12 }) }
            return Self.words(Self.report(quarters, received: 240)) != nil
        }
        #expect(told < 20, "\(told)")
    }
}
