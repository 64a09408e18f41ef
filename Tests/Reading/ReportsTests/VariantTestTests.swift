import Testing

@testable import Reports

@Suite("Variants compared")
struct VariantTestTests {
    private func compare(_ rates: [Rate], isSettled: Bool = true) -> [VariantTest] {
        VariantTest.compare(rates.enumerated().map { ("v\($0)", $1) }, isSettled: isSettled)
    }

    @Test("two are one test, with the better one first and an interval around the difference")
    func two() throws {
        let tests = compare([Rate(480, of: 4_000), Rate(600, of: 4_000)])
        let test = try #require(tests.first)
        #expect(tests.count == 1 && test.variant == "v1" && test.base == "v0")
        #expect(abs(test.difference - 0.03) < 1e-12)
        #expect(test.interval.lowerBound > 0 && test.interval.lowerBound < 0.03 && test.interval.upperBound > 0.03)
        #expect(test.verdict == TwoProportions.verdict(Rate(600, of: 4_000), against: Rate(480, of: 4_000)))
    }

    @Test("there is no verdict before the day has settled, nor on a small sample, however great the difference")
    func early() {
        let (good, bad) = (Rate(900, of: 1_000), Rate(100, of: 1_000))
        #expect(compare([good, bad], isSettled: false).map(\.verdict) == [.unsettled])
        #expect(compare([Rate(99, of: 99), bad]).map(\.verdict) == [.smallSample])
        #expect(compare([Rate(2, of: 1_000), Rate(3, of: 1_000)]).map(\.verdict) == [.smallSample])
        #expect(compare([good, Rate(0, of: 0)]).isEmpty)
    }

    @Test("of several, each p is corrected for the others, so what one test would call a difference may be chance")
    func several() {
        let (low, high) = (Rate(500, of: 5_000), Rate(583, of: 5_000))
        guard case .higher(let alone)? = compare([low, high]).first?.verdict else {
            Issue.record("two of them differ")
            return
        }
        let tests = compare([low, high, Rate(541, of: 5_000)])
        #expect(tests.map { $0.variant + $0.base } == ["v1v2", "v1v0", "v2v0"])
        #expect(tests[1].verdict == .likeChance(p: alone * 3))
        let single = compare([low, high])[0].interval
        #expect(tests[1].interval.lowerBound < single.lowerBound && single.upperBound < tests[1].interval.upperBound)
        #expect(compare((0..<20).map { Rate(Int64($0) * 10, of: 2_000) }).count == 28)
    }

    @Test("Holm's method, by hand")
    func holm() {
        #expect(VariantTest.holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06])
        #expect(VariantTest.holm([0.5, nil, 0.7, 0.9]) == [1, nil, 1, 1])
        #expect(VariantTest.holm([]) == [])
    }

    @Test("intervals as the textbooks have them")
    func intervals() throws {
        #expect(abs(Interval.quantile(ofError: 0.05) - 1.959964) < 1e-6)
        let tenth = try #require(Interval.of(Rate(10, of: 100)))
        #expect(abs(tenth.lowerBound - 0.0552) < 5e-5 && abs(tenth.upperBound - 0.1744) < 5e-5)
        // Newcombe (1998), method 10, example (a): 56/70 − 48/80.
        let newcombe = try #require(Interval.ofDifference(Rate(56, of: 70), from: Rate(48, of: 80)))
        #expect(abs(newcombe.lowerBound - 0.0524) < 5e-5 && abs(newcombe.upperBound - 0.3339) < 5e-5)
        #expect(
            Interval.of(Rate(0, of: 0)) == nil && Interval.ofDifference(Rate(1, of: 2), from: Rate(0, of: 0)) == nil)
        let none = try #require(Interval.of(Rate(0, of: 50)))
        #expect(none.lowerBound == 0 && none.upperBound > 0.05 && none.upperBound < 0.09)
    }

    @Test("and said: each with its rates and intervals, then the best one against the others")
    func words() throws {
        var report = SampleReport.busy
        report.settling = Settling(hoursSinceEnd: 200, share: 1, events: 9_999)
        report.closingButtons = "x"
        func variant(_ name: String, _ engaged: Int64, closed: Int64) -> CampaignVariant {
            var counts = FunnelCounts()
            (counts.delivered, counts.received) = (4_100, 4_000)
            (counts.responded, counts.receivedResponded) = (engaged + closed, engaged + closed)
            (counts.closed, counts.receivedClosed) = (closed, closed)
            return CampaignVariant(name: name, counts: counts)
        }
        report.campaigns[0].variants = [
            variant("a", 480, closed: 300), variant("b", 600, closed: 100), variant("", 590, closed: 1),
        ]
        let campaigns = try #require(Page(report).sections.first { $0.title == "Campaigns" })
        let words = campaigns.blocks.compactMap { block in
            if case .sentence(let words, _) = block, words.hasPrefix("black-friday: ") { words } else { nil }
        }
        #expect(
            words == [
                "black-friday: the engagement rate of b is 0.2 points higher than that of (no variant) "
                    + "(95 % interval: −1.7 points to +2.2 points). This is within chance (p = .753).",
                "black-friday: the engagement rate of b is 3.0 points higher than that of a "
                    + "(95 % interval: +1.2 points to +4.8 points). This is more than chance (p < .001).",
                "black-friday: each of 3 variants is compared with each. Probabilities and intervals are corrected for 3 comparisons.",
            ])
    }
}
