/// Per (app, day, category, campaign): how stories ended.
enum StoryFunnel: Projector {
    static let name = "story_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "story_funnel", keys: [.integer("category"), .integer("campaign")],
            counts: [
                "stories", "started", "completed", "exit_clicked", "exit_finished", "exit_fallback", "exit_abandoned",
            ])
    ]

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
        tallies[0].add(
            bits, times: weight, at: [facts.attributes.category, facts.attributes.campaign, 0, 0], of: delivery)
    }
}
