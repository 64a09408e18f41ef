internal import Telemetry

/// What one delivery's story showed, page by page: of its `story.*` events the first 1,000 in event order count.
struct StoryPages {
    struct Page: Hashable {
        var views: Int64 = 0
        var isClicked = false
        var dwellMilliseconds: Int64 = 0
        var dwells: Int64 = 0
    }

    /// From page 0 on, as many as the delivery has.
    private(set) var pages: [Page]

    private static let longestDwell: Int64 = 60_000_000

    init(of state: DeliveryState, pages count: Int16) {
        pages = [Page](repeating: Page(), count: Int(count))
        // The page that is on, since when.
        var shown: (page: Int, since: Timestamp)?
        let story = state.observations.lazy.filter { $0.type.isStory }.prefix(DeliveryState.mostStoryEvents)
        for observation in story {
            let moment = observation.moment.occurredAt
            switch observation.type {
            case .storyPageShown:
                endDwell(of: shown, at: moment)
                let page = Int(observation.page ?? 0)
                pages[page].views += 1
                shown = (page, moment)
            case .storyActionTapped:
                endDwell(of: shown, at: moment)
                pages[Int(observation.page ?? 0)].isClicked = true
                shown = nil
            case .storyFinished:
                endDwell(of: shown, at: moment)
                shown = nil
            case .storyStarted:
                // The story began anew: how long the page was on is not known.
                shown = nil
            default: break
            }
        }
    }

    private mutating func endDwell(of shown: (page: Int, since: Timestamp)?, at moment: Timestamp) {
        guard let shown, moment - shown.since <= Self.longestDwell else { return }
        pages[shown.page].dwellMilliseconds += (moment - shown.since) / 1_000
        pages[shown.page].dwells += 1
    }
}
