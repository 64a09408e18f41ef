internal import Telemetry
internal import Values

/// The story of one delivery, as far as it counts event by event.
struct PlayedStory {
    let key: StoryFunnel.Key
    let facts: StoryFacts
    /// Its first 1,000 `story.*` events in event order.
    let counted: ArraySlice<Event>

    /// A page_shown that dwells: what ended it, and after how many microseconds.
    struct Turn {
        let shown: Event
        let end: Event
        var dwell: Int64 { end.occurredAt - shown.occurredAt }
    }

    init?(_ delivery: Delivery) {
        guard let facts = delivery.facts.story else { return nil }
        self.facts = facts
        key = StoryFunnel.Key(delivery)
        counted = delivery.events.filter { $0.isStory }.prefix(StoryPageFunnel.countedEvents)
    }

    /// The page_shown events of a page that dwell.
    func turns(of page: Int) -> [Turn] {
        counted.indices.filter { counted[$0].shownPage == page }.compactMap { position in
            let later = counted[(position + 1)...]
            let end = later.first {
                [.storyPageShown, .storyActionTapped, .storyFinished, .storyStarted].contains($0.type)
            }
            guard let end, end.type != .storyStarted else { return nil }
            let turn = Turn(shown: counted[position], end: end)
            return turn.dwell <= StoryPageFunnel.longestDwell ? turn : nil
        }
    }
}
