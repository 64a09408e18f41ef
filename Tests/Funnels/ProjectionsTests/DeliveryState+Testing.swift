import FunnelOracle
import HistoryFold

@testable import Projections

extension DeliveryState {
    /// Merged two by two, whichever two come together.
    static func merged(_ states: [DeliveryState], _ random: inout SeededNumbers) -> DeliveryState {
        var states = states
        while states.count > 1 {
            let other = states.remove(at: random.number(0...(states.count - 1)))
            states[random.number(0...(states.count - 1))].merge(other)
        }
        return states[0]
    }

    /// All events as they are: sorted, none twice, and nothing left out.
    init(untrimmed observations: [Observation]) {
        var moments: Set<Moment> = []
        let distinct = observations.filter { moments.insert($0.moment).inserted }.sorted { $0.moment < $1.moment }
        self.init(stored: distinct, span: DeliveryState(of: distinct).span, surplusTaps: [:])
    }
}

/// All that funnels take from a state.
struct Meaning: Equatable {
    let span: DeliveryState.Span
    let facts: Facts
    let pages: [StoryPages.Page]
    let untoldAdvances: [StoryPages.Untold]
    let actions: [Int32: ActionTaps]

    init(of state: DeliveryState) {
        span = state.span
        facts = Facts(of: state)
        let played = facts.story.map { StoryPages(of: state, pages: $0.pages) }
        pages = played?.pages ?? []
        untoldAdvances = played?.untoldAdvances ?? []
        actions = ActionTaps.byAction(of: state)
    }
}
