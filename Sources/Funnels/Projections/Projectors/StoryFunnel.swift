/// Per (app, day, category, campaign, variant): how stories ended.
enum StoryFunnel: Projector {
    static let name = "story_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [.category, .campaign, .variant],
            columns: [
                .count("stories", "Deliveries with any story event"),
                .count("started", "Deliveries whose story started"),
                .count("completed", "Deliveries whose story was shown to the end, whatever its exit"),
                .count("exit_clicked", "Deliveries with a tap of a page's call to action"),
                .count("exit_finished", "Of the others, those shown to the end"),
                .count("exit_fallback", "Of the others, those that showed the fallback instead of pages"),
                .count("exit_abandoned", "All others: left before the end"),
                .rate("completion_rate", "completed", "started", "completed / started; null if started is 0"),
                .rate(
                    "fallback_rate", "exit_fallback", "stories",
                    "exit_fallback / stories: the share of stories that had no page to show"),
            ],
            view: .sums(
                """
                How the stories of each campaign and variant ended. A story is a notification whose content extension plays pages. The four \
                exits add up to stories. A story that nobody pressed and held was never opened and does not count.
                """),
            recount: .init(
                """
                SELECT
                    app, day, category, campaign, variant,
                    count(*) AS stories,
                    count(*) FILTER (WHERE story_started) AS started,
                    count(*) FILTER (WHERE story_finished) AS completed,
                    count(*) FILTER (WHERE story_exit = 1) AS exit_clicked,
                    count(*) FILTER (WHERE story_exit = 2) AS exit_finished,
                    count(*) FILTER (WHERE story_exit = 3) AS exit_fallback,
                    count(*) FILTER (WHERE story_exit = 4) AS exit_abandoned
                FROM recount_delivery WHERE story_exit <> 0 GROUP BY app, day, category, campaign, variant
                """, behind: "\(sameStory) AND d.story_exit <> 0"))
    ]

    /// SQL: the story of the delivery `d` belongs to the row `cell`.
    static let sameStory =
        "\(sameDay) AND d.category = cell.category AND d.campaign = cell.campaign AND d.variant = cell.variant"

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard let story = facts.story else { return }
        var bits: UInt32 = 1
        if facts.flags.contains(.storyStarted) { bits |= 1 << 1 }
        if facts.flags.contains(.storyFinished) { bits |= 1 << 2 }
        switch story.exit {
        case .clicked: bits |= 1 << 3
        case .finished: bits |= 1 << 4
        case .fallback: bits |= 1 << 5
        case .abandoned: bits |= 1 << 6
        }
        let attributes = facts.attributes
        tallies[0].add(
            bits, times: weight, at: Tally.Keys(attributes.category, attributes.campaign, attributes.variant),
            of: delivery)
    }
}
