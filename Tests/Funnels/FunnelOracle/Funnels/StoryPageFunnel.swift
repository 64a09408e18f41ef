/// **Per-story-page funnel**, one row per (app, day, category, campaign, variant, page_index) where `planned` > 0.
///
/// Decided where the contract is silent:
/// - *"Of one delivery's `story.*` events the first 1,000 in event order count"* stands in this funnel's paragraph, and
///   here it bounds what is counted event by event: `shown`, `views`, `clicked`, `dwell_ms`, `dwells`. The fold's facts
///   (the flags, the story exit, `furthest`, `pages`, and with them `planned`, `reached`, `exited`, `completed`) know
///   no limit: they are defined over all events of the delivery, a yes or no and a maximum need no bound, a story
///   finished after its thousandth page is finished, and this funnel agrees with the delivery behind it. All five sorts
///   of `story.*` events take a place among the 1,000, whether this funnel counts them or not; other events take none.
/// - *A dwell that the limit cuts*: the thousand-and-first event does not count, so it ends no dwell either.
/// - *Dwell* goes by event order: "next" is what follows there, and a `story.started` that follows first leaves the
///   page without dwell, also in the same microsecond. Two events of one moment make a dwell of 0, which counts.
/// - *"Within 60 s"* includes the end: exactly 60,000,000 µs is a dwell.
/// - *The next one decides*: when it comes after 60 s there is no dwell, whatever follows.
/// - *`story.fallback_shown`* and what is no story event neither ends nor voids a dwell.
/// - *`dwell_ms`* sums whole milliseconds, each dwell rounded down by itself: so contributions of deliveries add up.
/// - *`clicked`* needs no page_shown: a delivery can be clicked on a page that it never showed, and so be reached.
/// - *A story of which we know no page* (a fallback alone, a finish alone) has no row here.
package struct StoryPageFunnel: FunnelRow {
    package let key: Key
    package let planned: Int
    package let reached: Int
    package let shown: Int
    package let views: Int
    package let clicked: Int
    package let exited: Int
    package let dwellMS: Int64
    package let dwells: Int

    package struct Key: Hashable, Sendable {
        package let story: StoryFunnel.Key
        package let pageIndex: Int
    }

    package static let countedEvents = 1_000
    package static let longestDwell: Int64 = 60_000_000

    package var clickRate: Rate { Rate(clicked, of: shown) }
    /// `dwell_ms` / `dwells` / 1000
    package var meanDwellSeconds: Rate { Rate(dwellMS, of: Int64(dwells) * 1_000) }

    package static let view = "story_page_funnel"

    package static var keyColumns: [Column<StoryPageFunnel>] { keyColumns(within: \.key) }

    static func keyColumns<Row>(within key: KeyPath<Row, Key>) -> [Column<Row>] {
        let columns = StoryFunnel.Key.columns.map { $0.within(\Key.story) } + [Column("page_index", \Key.pageIndex)]
        return columns.map { $0.within(key) }
    }

    package static var numberColumns: [Column<StoryPageFunnel>] {
        [
            Column("planned", \.planned), Column("reached", \.reached), Column("shown", \.shown),
            Column("views", \.views), Column("clicked", \.clicked), Column("exited", \.exited),
            Column("dwell_ms", \.dwellMS), Column("dwells", \.dwells),
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [StoryPageFunnel] {
        Dictionary(grouping: deliveries.compactMap(PlayedStory.init), by: \.key)
            .flatMap { key, stories in
                let pages = stories.map(\.facts.pages).max() ?? 0
                return (0..<pages).map { StoryPageFunnel(key: Key(story: key, pageIndex: $0), of: stories) }
            }
            .sortedByKey()
    }

    private init(key: Key, of stories: [PlayedStory]) {
        let page = key.pageIndex
        let dwells = stories.flatMap { $0.turns(of: page) }.map(\.dwell)
        self.key = key
        planned = stories.count { $0.facts.pages > page }
        reached = stories.count { $0.facts.furthest.map { $0 >= page } ?? false }
        shown = stories.count { $0.counted.contains { $0.shownPage == page } }
        views = stories.reduce(0) { $0 + $1.counted.count { $0.shownPage == page } }
        clicked = stories.count { $0.counted.contains { $0.clickedPage == page } }
        exited = stories.count { $0.facts.furthest == page && $0.facts.exit == .abandoned }
        dwellMS = dwells.reduce(0) { $0 + $1 / 1_000 }
        self.dwells = dwells.count
    }
}
