import FunnelOracle
import HistoryFold
import Projections
import Testing

@Suite("Merging the states of a delivery")
struct MergeTests {
    @Test("in whatever order, groups and pairs events come together, the state and its bytes are the same")
    func anyWay() {
        let broken = counterexamples(among: 30_000..<31_000) { seed in
            var random = SeededNumbers(seed: seed)
            return WrittenLog(of: RandomHistory(seed: seed)).observations.values.allSatisfy { observations in
                let state = DeliveryState(of: observations)
                return DeliveryState(of: observations.shuffled(using: &random)) == state
                    && isState(state, ofGroups: random.parted(observations), &random)
            }
        }
        #expect(broken == [])
    }

    @Test("merging is commutative, associative and idempotent")
    func algebra() {
        let broken = counterexamples(among: 0..<4_000) { seed in
            var wild = WildObservations(seed: seed)
            let a = DeliveryState(of: wild.some())
            let b = DeliveryState(of: wild.some())
            let c = DeliveryState(of: wild.some())
            let both = a.merged(with: b)
            return b.merged(with: a) == both && both.merged(with: c) == a.merged(with: b.merged(with: c))
                && a.merged(with: a) == a && both.merged(with: a) == both
        }
        #expect(broken == [])
    }

    @Test("repeats change nothing")
    func repeats() {
        let broken = counterexamples(among: 0..<2_000) { seed in
            var wild = WildObservations(seed: seed)
            let observations = wild.some()
            let again = (observations + wild.random.parted(observations)[0]).shuffled(using: &wild.random)
            let state = DeliveryState(of: observations)
            let groups = wild.random.parted(again) + wild.random.parted(observations)
            return DeliveryState(of: again) == state && isState(state, ofGroups: groups, &wild.random)
        }
        #expect(broken == [])
    }

    @Test("all that holds for stories of over 1,000 events")
    func longStories() {
        let broken = counterexamples(among: 0..<12) { seed in
            var wild = WildObservations(seed: seed)
            let observations = wild.many(taps: false) + wild.some()
            let state = DeliveryState(of: observations)
            let groups = wild.random.parted(observations) + wild.random.parted(observations)
            return isState(state, ofGroups: groups, &wild.random) && state.merged(with: state) == state
        }
        #expect(broken == [])
    }

    @Test("over 1,000 taps make one state whatever the groups, as long as no tap is told twice")
    func manyTaps() {
        let broken = counterexamples(among: 0..<12) { seed in
            var wild = WildObservations(seed: seed)
            let observations = DeliveryState(untrimmed: wild.many(taps: true) + wild.some()).observations
            let state = DeliveryState(of: observations)
            return (1...3).allSatisfy { _ in
                isState(state, ofGroups: wild.random.parted(observations), &wild.random)
            }
        }
        #expect(broken == [])
    }

    private func isState(
        _ state: DeliveryState, ofGroups groups: [[Observation]], _ random: inout SeededNumbers
    ) -> Bool {
        let merged = DeliveryState.merged(groups.map { DeliveryState(of: $0) }, &random)
        return merged == state && merged.encoded() == state.encoded()
    }
}
