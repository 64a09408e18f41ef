import Testing

@testable import Reports

@Suite("The interval of an experiment")
struct ConfidenceSequenceTests {
    @Test("the boundary is what the formula gives, and it is wider than that of a single look")
    func boundary() {
        // By hand: tail = 5.99146, ρ = 100 / (5.99146 + ln 6.99146) = 12.6025; √(1.126025 · (ln 8.93493 + 5.99146)) = 3.0361.
        #expect(abs(ConfidenceSequence.boundary(known: 100, narrowest: 100, error: 0.05) - 3.0361) < 0.001)
        for known in [1.0, 10, 100, 1000, 1e6] {
            let sigmas = ConfidenceSequence.boundary(known: known, narrowest: 100, error: 0.05)
            #expect(sigmas > 3)
            #expect(ConfidenceSequence.boundary(known: known, narrowest: 100, error: 0.01) > sigmas)
        }
    }

    @Test("it is round the difference, within −1 and 1, and says nothing of few")
    func interval() throws {
        let interval = try #require(
            ConfidenceSequence.interval(
                treated: Rate(1100, of: 10_000), control: Rate(1000, of: 10_000), controlShare: 0.5))
        #expect(abs((interval.lowerBound + interval.upperBound) / 2 - 0.01) < 1e-9)
        #expect(interval.lowerBound < 0 && interval.upperBound < 0.03)
        let clear = try #require(
            ConfidenceSequence.interval(
                treated: Rate(1300, of: 10_000), control: Rate(1000, of: 10_000), controlShare: 0.5))
        #expect(clear.lowerBound > 0)
        for (treated, control) in [
            (Rate(9, of: 10_000), Rate(9, of: 10_000)), (Rate(0, of: 0), Rate(5, of: 10)),
            (Rate(5, of: 10), Rate(0, of: 0)),
            (Rate(11, of: 10), Rate(1, of: 10)), (Rate(0, of: 10_000), Rate(0, of: 10_000)),
            (Rate(.max, of: .max), Rate(1, of: .max)), (Rate(10_000, of: 10_000), Rate(10_000, of: 10_000)),
        ] {
            #expect(
                ConfidenceSequence.interval(treated: treated, control: control, controlShare: 0.5) == nil, "\(treated)")
        }
        let whole = try #require(
            ConfidenceSequence.interval(treated: Rate(30, of: 30), control: Rate(0, of: 30), controlShare: 0.5))
        #expect(whole.lowerBound > 0 && whole.upperBound == 1)
    }

    @Test("the sizes of arms are compared with the share by which they were drawn")
    func sampleRatio() throws {
        // (5,100 − 5,000)² / 2,500: chi-squared 4, p = .0455.
        let p = try #require(SampleRatio.probability(control: 5100, treated: 4900, controlShare: 0.5))
        #expect(abs(p - 0.0455) < 0.0001)
        #expect(try #require(SampleRatio.probability(control: 1000, treated: 9000, controlShare: 0.1)) == 1)
        #expect(try #require(SampleRatio.probability(control: 0, treated: 9000, controlShare: 0.1)) < 0.001)
        #expect(SampleRatio.probability(control: 0, treated: 0, controlShare: 0.1) == nil)
    }
}
