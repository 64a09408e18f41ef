/// Per (app, day, category, campaign, page): where in a story people look, tap, turn and leave.
enum StoryPageFunnel: Projector {
    static let name = "story_page_funnel"
    static let version: Int32 = 2
    static let tables = [
        TallyTable(
            "story_page_funnel", keys: [.integer("category"), .integer("campaign"), .smallint("page_index")],
            counts: [
                "planned", "reached", "shown", "views", "clicked", "exited", "dwell_ms", "dwells", "auto_advances",
                "manual_advances",
            ]),
        // Advances of which the events do not tell whether the page turned by itself, by how long it stood.
        TallyTable(
            "story_page_gaps",
            keys: [.integer("category"), .integer("campaign"), .smallint("page_index"), .smallint("gap")],
            counts: ["advances"]),
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard let story = facts.story, story.pages > 0 else { return }
        let furthest = Int(story.furthest ?? -1)
        let told = StoryPages(of: delivery.state, pages: story.pages)
        for (index, page) in told.pages.enumerated() {
            let hasExited = index == furthest && story.exit == .abandoned
            tallies[0].add(
                [
                    1, furthest >= index ? 1 : 0, page.views > 0 ? 1 : 0, page.views, page.isClicked ? 1 : 0,
                    hasExited ? 1 : 0, page.dwellMilliseconds, page.dwells, page.autoAdvances, page.manualAdvances,
                ], times: weight, at: [facts.attributes.category, facts.attributes.campaign, Int32(index), 0],
                of: delivery)
        }
        for advance in told.untoldAdvances {
            tallies[1].add(
                1 as UInt32, times: weight,
                at: [
                    facts.attributes.category, facts.attributes.campaign, Int32(advance.page), Int32(advance.gap),
                ], of: delivery)
        }
    }
}
