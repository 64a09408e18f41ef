internal import Telemetry

/// What the `story.*` events of one delivery say together, however many they are.
package struct StoryFacts: Hashable, Sendable {
    package let started: Bool
    package let finished: Bool
    package let exit: StoryExit
    /// The greatest `page_index` of its page_shown and story action_tapped events; nil when it reached no page.
    package let furthest: Int?
    /// The greatest of its `page_count`s and `furthest` + 1; 0 for a story of which we know no page.
    package let pages: Int

    /// Nil where there is no `story.*` event.
    init?(of events: [Event]) {
        guard !events.isEmpty else { return nil }
        let types = Set(events.map(\.type))
        started = types.contains(.storyStarted)
        finished = types.contains(.storyFinished)
        exit =
            if types.contains(.storyActionTapped) {
                .clicked
            } else if types.contains(.storyFinished) {
                .finished
            } else if types.contains(.storyFallbackShown), types.isDisjoint(with: [.storyStarted, .storyPageShown]) {
                .fallback
            } else {
                .abandoned
            }
        let furthest = events.compactMap(\.storyPage).max()
        self.furthest = furthest
        pages = max(events.compactMap(\.pageCount).max() ?? 0, (furthest ?? -1) + 1)
    }
}

/// How a story ended: exactly one of four, the first that applies.
package enum StoryExit: String, Hashable, Sendable {
    case clicked, finished, fallback, abandoned
}
