import Foundation
import ProjectFolder
import Testing

@testable import Reports

/// Experiments of the tests' own, read on 28 nights. The seeds are fixed, and so are the figures that
/// Docs/Experiments.md gives.
@Suite("Experiments that are simulated")
struct ExperimentSimulationTests {
    private static let nights = 28

    /// splitmix64.
    private struct Numbers {
        private var state: UInt64
        init(_ seed: UInt64) { state = seed }

        /// Over 0 and up to 1.
        mutating func share() -> Double { Double(bits() >> 11 &+ 1) / 9_007_199_254_740_992 }

        mutating func bits() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }

        /// How many of so many times 64 installs are drawn into one half.
        mutating func half(of words: Int) -> Int64 {
            (0..<words).reduce(0) { sum, _ in sum + Int64(bits().nonzeroBitCount) }
        }
    }

    /// What became of many experiments.
    private struct Outcome {
        /// Those that were called on any night: by the sequence, and by the test for a single look.
        var called = 0
        var calledByFixed = 0
        /// Those whose intervals held the true difference on all nights.
        var covered = 0
    }

    /// How many of so many installs had reached a goal by each night, each of them with this probability in the end and
    /// on any night alike. It leaps from one that reaches it to the next.
    private static func reached(_ installs: Int, _ probability: Double, _ numbers: inout Numbers) -> [Int64] {
        var onNight = [Int64](repeating: 0, count: nights)
        let scale = 1 / log(1 - probability)
        var place = 0.0
        while true {
            place += (log(numbers.share()) * scale).rounded(.down) + 1
            guard place <= Double(installs) else { break }
            onNight[min(Int(numbers.share() * Double(nights)), nights - 1)] += 1
        }
        var sum: Int64 = 0
        return onNight.map { night in
            sum += night
            return sum
        }
    }

    private static func run(
        _ count: Int, installs: Int, control: Double, share: Double, effect: Double, seed: UInt64
    ) -> Outcome {
        var numbers = Numbers(seed)
        var outcome = Outcome()
        for _ in 0..<count {
            let controls = Int(Double(installs) * control)
            let base = reached(controls, share, &numbers)
            let own = reached(installs - controls, share * (1 + effect), &numbers)
            var (isCalled, isCalledByFixed, isCovered) = (false, false, true)
            for night in 0..<nights {
                let rate = Rate(own[night], of: Int64(installs - controls))
                let baseRate = Rate(base[night], of: Int64(controls))
                if let p = TwoProportions.probability(rate, against: baseRate), p < 0.05 { isCalledByFixed = true }
                guard
                    let interval = ConfidenceSequence.interval(treated: rate, control: baseRate, controlShare: control)
                else { continue }
                if !interval.contains(0) { isCalled = true }
                let truth = share * effect * Double(night + 1) / Double(nights)
                if !interval.contains(truth) { isCovered = false }
            }
            outcome.called += isCalled ? 1 : 0
            outcome.calledByFixed += isCalledByFixed ? 1 : 0
            outcome.covered += isCovered ? 1 : 0
        }
        return outcome
    }

    private static func percent(_ count: Int, of all: Int) -> String {
        Wording.percent(Double(count) / Double(all))
    }

    private func expectGuide(_ sentence: String) throws {
        let guide = try String(contentsOfFile: ProjectFolder.path + "/Docs/Experiments.md", encoding: .utf8)
        let words = guide.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains(sentence), "\(sentence)")
    }

    @Test("without an effect at most one in twenty is ever called, whatever the shares")
    func nothing() throws {
        let all = 10_000
        let half = Self.run(all, installs: 4000, control: 0.5, share: 0.1, effect: 0, seed: 1)
        #expect(half.called <= all / 20 && half.covered >= all * 19 / 20)
        #expect(half.calledByFixed > all / 5)
        try expectGuide(
            "Of 10,000 experiments without an effect, \(Self.percent(half.called, of: all)) are ever called in 28 nights, and "
                + "\(Self.percent(half.calledByFixed, of: all)) by a test that is made for one look (p < .05)")
        for (installs, control, share) in [(20_000, 0.1, 0.02), (2000, 0.1, 0.5), (4000, 0.02, 0.3), (1000, 0.5, 0.9)] {
            let other = Self.run(500, installs: installs, control: control, share: share, effect: 0, seed: 2)
            #expect(other.called <= 25 && other.covered >= 475, "\(installs) \(control) \(share): \(other)")
        }
    }

    @Test("with an effect the intervals of all nights hold the truth, and the effect is found with the stated power")
    func effect() throws {
        let all = 1000
        let found = Self.run(all, installs: 60_000, control: 0.5, share: 0.1, effect: 0.1, seed: 3)
        #expect(found.covered >= all * 19 / 20 && found.called >= all * 4 / 5)
        try expectGuide(
            "Of 60,000 installs in two halves, of which 10 % reach the goal without pushes and 11 % with them, the difference is "
                + "found within 28 nights in \(Self.percent(found.called, of: all)) of 1,000 experiments")
        try expectGuide("all 28 intervals hold the truth in \(Self.percent(found.covered, of: all))")
        let harm = Self.run(all, installs: 20_000, control: 0.1, share: 0.1, effect: -0.5, seed: 4)
        #expect(harm.covered >= all * 19 / 20 && harm.called >= all * 9 / 10, "\(harm)")
    }

    @Test("two percent of an arm that are lost are alarmed, and chance is not")
    func loss() throws {
        var numbers = Numbers(5)
        func alarms(installs: Int, lost: Double) -> Int {
            (0..<1000).count { _ in
                let controls = numbers.half(of: installs / 64)
                let others = Int64(installs) - controls
                let gone = lost > 0 ? Self.reached(Int(others), lost, &numbers).last ?? 0 : 0
                let p = SampleRatio.probability(control: controls, treated: others - gone, controlShare: 0.5)
                return p.map { $0 < SampleRatio.significance } ?? false
            }
        }
        #expect(alarms(installs: 9984, lost: 0) <= 5)
        let told = alarms(installs: 249_984, lost: 0.02)
        #expect(told >= 900)
        try expectGuide(
            "2 % of one arm that are lost are alarmed in \(Self.percent(told, of: 1000)) of 1,000 experiments with 250,000 installs"
        )
    }
}
