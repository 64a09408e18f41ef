internal import Telemetry
internal import Values

/// What one delivery's story showed, page by page. Only the first 1,000 `story.*` events in event order count.
struct StoryPages {
    struct Page: Hashable {
        var views: Int64 = 0
        var isClicked = false
        var dwellMilliseconds: Int64 = 0
        var dwells: Int64 = 0
        /// Dwells that ended because the story went on by itself, and dwells that ended because somebody turned the
        /// page.
        var autoAdvances: Int64 = 0
        var manualAdvances: Int64 = 0
    }

    /// An advance for which the events do not say whether the page turned by itself.
    struct Untold: Hashable {
        let page: Int16
        /// How long the page was shown: 2n means exactly n tenths of a second, 2n + 1 means more than n and less than n
        /// + 1 tenths.
        let gap: Int16
    }

    /// Starts with page 0 and has as many pages as the delivery.
    private(set) var pages: [Page]
    private(set) var untoldAdvances: [Untold] = []

    /// The event of the page that is being shown.
    private var shown: Observation?

    private static let longestDwell: Int64 = 60_000_000
    /// A page turned by itself if it turned within this many microseconds of its declared time.
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
                // The story started again, so nobody knows how long the page was shown.
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

    /// Whether the story went forward from the other page to this one, or back to the beginning if the event says that
    /// it looped. Turning back is no advance.
    fileprivate func isAdvance(from other: Observation) -> Bool {
        switch PageCause(rawValue: cause) {
        case .initial, .previous: false
        case .auto, .next, .loop: pageIndex != other.pageIndex
        case nil: pageIndex > other.pageIndex
        }
    }
}
