import Testing

@testable import Reports

@Suite("How the events of a day arrive")
struct ArrivalCurveTests {
    /// A curve of days that were watched for so many hours each, and all came in alike, as far as they could.
    private func curve(watched: [Int], _ arrivals: [Int: Int64]) -> ArrivalCurve {
        var curve = ArrivalCurve()
        for hours in watched { curve.addDay(watched: hours, arrivals: arrivals.filter { $0.key <= hours }) }
        return curve
    }

    private func expect(_ share: Double?, _ expected: Double, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(share.map { abs($0 - expected) < 1e-12 } == true, sourceLocation: sourceLocation)
    }

    @Test("days that were observed to the end are added up")
    func complete() {
        let curve = curve(watched: Array(repeating: 672, count: 28), [0: 60, 1: 20, 30: 15, 600: 5])
        #expect(curve.events == 2_800)
        #expect(curve.days == 28)
        for (hour, share) in [(0, 0.6), (1, 0.8), (29, 0.8), (30, 0.95), (599, 0.95), (600, 1), (672, 1), (9_000, 1)] {
            expect(curve.share(after: hour), share)
        }
        #expect(curve.hours(to: 0.6) == 0)
        #expect(curve.hours(to: 0.95) == 30)
        #expect(curve.hours(to: 0.99) == 600)
    }

    @Test("events that have not had the time to arrive are not taken for lost")
    func truncated() {
        // All days are alike, and the last of four was watched for ten hours only, and so on back.
        let watched = (0..<28).map { 10 + 24 * $0 }
        let curve = curve(watched: watched, [0: 50, 5: 30, 40: 15, 500: 5])
        for (hour, share) in [(0, 0.5), (4, 0.5), (5, 0.8), (39, 0.8), (40, 0.95), (499, 0.95), (500, 1)] {
            expect(curve.share(after: hour), share)
        }
        #expect(curve.hours(to: 0.95) == 40)
        #expect(curve.hours(to: 0.99) == 500)
    }

    @Test("an hour is estimated only from the days that were observed for it")
    func factors() {
        var curve = ArrivalCurve()
        // Seven long days: of 200 events half come in the first hour, a fifth in the tenth.
        for _ in 0..<7 { curve.addDay(watched: 20, arrivals: [0: 60, 1: 100, 10: 40]) }
        // A big one of which only the first hour was seen; what its second hour brought by now is not told by it.
        curve.addDay(watched: 1, arrivals: [0: 10_000, 1: 600, 2: 5])
        // F(9) = 7·160/7·200; F(0) = F(1) · (7·60 + 10,000) / (7·160 + 10,600).
        expect(curve.share(after: 9), 0.8)
        expect(curve.share(after: 1), 0.8)
        expect(curve.share(after: 0), 0.8 * 10_420 / 11_720)
        #expect(curve.events == 7 * 200 + 10_600)
    }

    @Test("with fewer than a thousand events or seven days there is only their number")
    func few() {
        let days = curve(watched: Array(repeating: 100, count: 6), [0: 500])
        #expect(days.share(after: 10) == nil)
        #expect(days.hours(to: 0.95) == nil)
        #expect(days.events == 3_000)
        let events = curve(watched: Array(repeating: 100, count: 27), [0: 37])
        #expect(events.events == 999)
        #expect(events.share(after: 10) == nil)
        #expect(curve(watched: Array(repeating: 100, count: 7), [0: 143]).share(after: 10) == 1)
        #expect(ArrivalCurve().share(after: 0) == nil)
    }

    @Test("a day that is not over has no share, and adds nothing to the estimate")
    func lasting() {
        var curve = curve(watched: Array(repeating: 100, count: 7), [0: 100, 50: 100])
        #expect(curve.share(after: -1) == nil)
        curve.addDay(watched: -1, arrivals: [0: 1_000_000])
        #expect(curve.days == 7)
        expect(curve.share(after: 0), 0.5)
    }

    @Test("days without events, hours without events and events later than four weeks change nothing")
    func nothing() {
        var curve = curve(watched: Array(repeating: 900, count: 8), [3: 150, 672: 50, 673: 1_000])
        curve.addDay(watched: 900, arrivals: [:])
        #expect(curve.days == 8)
        #expect(curve.events == 1_600)
        expect(curve.share(after: 2), 0)
        expect(curve.share(after: 3), 0.75)
        #expect(curve.hours(to: 0.99) == 672)
    }
}
