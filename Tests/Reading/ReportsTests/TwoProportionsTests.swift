import Testing

@testable import Reports

@Suite("Whether two shares differ by more than chance")
struct TwoProportionsTests {
    @Test("a difference as textbooks have it is told, and its direction") func textbook() throws {
        // 120 of 1,000 against 90 of 1,000: z = 2.188, p = .0287.
        guard case .likeChance(let p) = TwoProportions.verdict(Rate(120, of: 1000), against: Rate(90, of: 1000)) else {
            Issue.record("p of .03 is not below the line")
            return
        }
        #expect(abs(p - 0.0287) < 0.0005)
        guard case .higher(let higher) = TwoProportions.verdict(Rate(150, of: 1000), against: Rate(90, of: 1000))
        else {
            Issue.record("half as many again of a thousand is more than chance")
            return
        }
        #expect(higher < 0.001)
        guard case .lower = TwoProportions.verdict(Rate(90, of: 1000), against: Rate(150, of: 1000)) else {
            Issue.record("the other way round is lower")
            return
        }
    }

    @Test(
        "few are called few",
        arguments: [
            (Rate(1, of: 4), Rate(90, of: 1000)), (Rate(0, of: 0), Rate(1, of: 2)), (Rate(1, of: 2), Rate(0, of: 0)),
            (Rate(1, of: 500), Rate(2, of: 500)), (Rate(0, of: 3), Rate(0, of: 1000)),
        ]) func few(rate: Rate, base: Rate)
    {
        #expect(TwoProportions.verdict(rate, against: base) == .smallSample)
    }

    @Test("a fall that is plain of few, too, is told by the exact test") func exact() {
        // 63 of 89 against 514 of 518; 25 of 40 against 250 of 251; the same the other way round.
        for (rate, base) in [(Rate(63, of: 89), Rate(514, of: 518)), (Rate(25, of: 40), Rate(250, of: 251))] {
            guard case .lower(let p) = TwoProportions.verdict(rate, against: base), p < 1e-9,
                case .higher = TwoProportions.verdict(base, against: rate)
            else {
                Issue.record("\(rate) against \(base)")
                continue
            }
        }
    }

    @Test("the exact test gives what textbooks do")
    func fisher() {
        // The lady who tastes tea: 3 of 4 against 1 of 4; and 1 of 10 against 11 of 14.
        #expect(abs(FisherTest.probability(Rate(3, of: 4), Rate(1, of: 4)) - 0.485714) < 1e-6)
        #expect(abs(FisherTest.probability(Rate(1, of: 10), Rate(11, of: 14)) - 0.002759) < 1e-6)
        #expect(FisherTest.probability(Rate(0, of: 5), Rate(0, of: 9)) == 1)
    }

    @Test("none or all on both sides do not differ") func same() {
        #expect(TwoProportions.verdict(Rate(0, of: 500), against: Rate(0, of: 400)) == .likeChance(p: 1))
        #expect(TwoProportions.verdict(Rate(500, of: 500), against: Rate(40, of: 40)) == .likeChance(p: 1))
    }

    @Test("none of n rules out about three in n") func bound() throws {
        let bound = try #require(TwoProportions.bound(ofNoneIn: 300))
        #expect(abs(bound - 0.00994) < 0.00002)
        #expect(TwoProportions.bound(ofNoneIn: 0) == nil)
    }
}
