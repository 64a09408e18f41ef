internal import Telemetry
internal import Values

/// What one delivery's story showed, page by page: of its `story.*` events the first 1,000 in event order count.
struct StoryPages {
    struct Page: Hashable {
        var views: Int64 = 0
        var isClicked = false
        var dwellMilliseconds: Int64 = 0
        var dwells: Int64 = 0
        /// Dwells that ended when the story went on by itself, and those that ended when somebody turned it.
        var autoAdvances: Int64 = 0
        var manualAdvances: Int64 = 0
    }

    /// An advance of which the events do not tell which it was.
    struct Untold: Hashable {
        let page: Int16
        /// How long the page stood: 2n is n tenths of a second to the microsecond, 2n + 1 more than that and less than
        /// n + 1 tenths.
        let gap: Int16
    }

    /// From page 0 on, as many as the delivery has.
    private(set) var pages: [Page]
    private(set) var untoldAdvances: [Untold] = []

    /// The page that is on, and since when.
    private var shown: Observation?

    private static let longestDwell: Int64 = 60_000_000
    /// How far from its declared time a page that turns by itself may turn.
    private static let tolerance: Int64 = 400_000

    init(of state: DeliveryState, pages count: Int16) {
        pages = [Page](repeating: Page(), count: Int(count))
        let story = state.observations.lazy.filter { $0.type.isStory }.prefix(DeliveryState.mostStoryEvents)
        for observation in story {
            switch observation.type {
            case .storyPageShown:
                endDwell(with: observation)
                pages[observation.pageIndex].views += 1
                shown = observation
            case .storyActionTapped:
                endDwell(with: observation)
                pages[observation.pageIndex].isClicked = true
                shown = nil
            case .storyFinished:
                endDwell(with: observation)
                shown = nil
            case .storyStarted:
                // The story began anew: how long the page was on is not known.
                shown = nil
            default: break
            }
        }
    }

    private mutating func endDwell(with next: Observation) {
        guard let shown else { return }
        let dwell = next.moment.occurredAt - shown.moment.occurredAt
        guard dwell <= Self.longestDwell else { return }
        pages[shown.pageIndex].dwellMilliseconds += dwell / 1_000
        pages[shown.pageIndex].dwells += 1
        if next.type == .storyPageShown, next.isAdvance(from: shown) { countAdvance(of: shown, to: next, after: dwell) }
    }

    private mutating func countAdvance(of page: Observation, to next: Observation, after dwell: Int64) {
        let isAuto: Bool
        switch PageCause(rawValue: next.cause) {
        case .auto, .loop: isAuto = true
        case .next: isAuto = false
        case .initial, .previous, nil:
            guard let declared = page.declared else {
                let (tenths, rest) = dwell.quotientAndRemainder(dividingBy: 100_000)
                untoldAdvances.append(
                    Untold(page: Int16(page.pageIndex), gap: Int16(2 * tenths + (rest == 0 ? 0 : 1))))
                return
            }
            isAuto = abs(dwell - Int64(declared) * 1_000) <= Self.tolerance
        }
        if isAuto { pages[page.pageIndex].autoAdvances += 1 } else { pages[page.pageIndex].manualAdvances += 1 }
    }
}

extension Observation {
    fileprivate var pageIndex: Int { Int(page ?? 0) }

    /// Whether this page came up because the story went on from another one: further on, or (by its own word) round to
    /// the beginning. To turn back is no advance.
    fileprivate func isAdvance(from other: Observation) -> Bool {
        switch PageCause(rawValue: cause) {
        case .initial, .previous: false
        case .auto, .next, .loop: pageIndex != other.pageIndex
        case nil: pageIndex > other.pageIndex
        }
    }
}
