import FunnelOracle
import HistoryFold
import Projections
import Testing

@Suite("What a state leaves out")
struct TrimmingTests {
    @Test("changes nothing that a funnel counts")
    func meaning() {
        let broken = counterexamples(among: 10_000..<11_000) { seed in
            WrittenLog(of: RandomHistory(seed: seed)).observations.values.allSatisfy { observations in
                means(DeliveryState(of: observations), observations)
            }
        }
        #expect(broken == [])
    }

    @Test("would never have mattered, whatever comes later")
    func laterEvents() {
        let broken = counterexamples(among: 0..<3_000) { seed in
            var wild = WildObservations(seed: seed)
            return keepsItsMeaning(wild.some()) { wild.some(5) }
        }
        #expect(broken == [])
    }

    @Test("would not have mattered amidst a story of over 1,000 events either")
    func longStories() {
        let broken = counterexamples(among: 0..<12) { seed in
            var wild = WildObservations(seed: seed)
            return keepsItsMeaning(wild.many(taps: false)) { wild.some() + wild.many(taps: false).prefix(200) }
        }
        #expect(broken == [])
    }

    @Test("goes at once: what is left stays")
    func once() {
        let broken = counterexamples(among: 0..<2_000) { seed in
            var wild = WildObservations(seed: seed)
            let left = DeliveryState(of: wild.some()).observations
            return DeliveryState(of: left).observations == left
        }
        #expect(broken == [])
    }

    /// Whether a state of these means what they mean, and still does when more is merged in, time and again.
    private func keepsItsMeaning(_ observations: [Observation], later: () -> [Observation]) -> Bool {
        var all = observations
        var state = DeliveryState(of: observations)
        return means(state, all)
            && (1...4).allSatisfy { _ in
                let more = later()
                all += more
                state.merge(DeliveryState(of: more))
                return means(state, all)
            }
    }

    /// Whether a state means to the funnels what all these observations mean.
    private func means(_ state: DeliveryState, _ observations: [Observation]) -> Bool {
        Meaning(of: state) == Meaning(of: DeliveryState(untrimmed: observations))
    }
}
