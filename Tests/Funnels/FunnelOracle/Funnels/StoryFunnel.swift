package import Values

/// **Per-story funnel**, one row per (app, day, category, campaign, variant), of deliveries with any `story.*` event.
package struct StoryFunnel: FunnelRow {
    package let key: Key
    package let stories: Int
    package let started: Int
    /// Has `story.finished`, whatever the exit.
    package let completed: Int
    package let exitClicked: Int
    package let exitFinished: Int
    package let exitFallback: Int
    package let exitAbandoned: Int

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let category: Label
        package let campaign: Label
        package let variant: Label

        init(_ delivery: Delivery) {
            app = delivery.name.app
            day = delivery.facts.day
            category = delivery.facts.category
            campaign = delivery.facts.campaign
            variant = delivery.facts.variant
        }

        static var columns: [Column<Key>] {
            [
                Column("app", \.app), Column("day") { .day($0.day) }, Column("category", \.category),
                Column("campaign", \.campaign), Column("variant", \.variant),
            ]
        }
    }

    package var completionRate: Rate { Rate(completed, of: started) }
    package var fallbackRate: Rate { Rate(exitFallback, of: stories) }

    package static let view = "story_funnel"

    package static var keyColumns: [Column<StoryFunnel>] { Key.columns.map { $0.within(\.key) } }

    package static var numberColumns: [Column<StoryFunnel>] {
        [
            Column("stories", \.stories), Column("started", \.started), Column("completed", \.completed),
            Column("exit_clicked", \.exitClicked), Column("exit_finished", \.exitFinished),
            Column("exit_fallback", \.exitFallback), Column("exit_abandoned", \.exitAbandoned),
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [StoryFunnel] {
        Dictionary(grouping: deliveries.filter { $0.facts.story != nil }, by: Key.init)
            .map { StoryFunnel(key: $0, of: $1.compactMap(\.facts.story)) }
            .sortedByKey()
    }

    private init(key: Key, of stories: [StoryFacts]) {
        self.key = key
        self.stories = stories.count
        started = stories.count { $0.started }
        completed = stories.count { $0.finished }
        exitClicked = stories.count { $0.exit == .clicked }
        exitFinished = stories.count { $0.exit == .finished }
        exitFallback = stories.count { $0.exit == .fallback }
        exitAbandoned = stories.count { $0.exit == .abandoned }
    }
}
