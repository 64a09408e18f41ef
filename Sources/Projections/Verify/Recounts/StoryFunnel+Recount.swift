extension Recount {
    /// How stories ended.
    package static let storyFunnel = Recount(
        table: "story_funnel",
        key: storyKey,
        values: Column.counts(
            "stories", "started", "completed", "exit_clicked", "exit_finished", "exit_fallback", "exit_abandoned"),
        sql: """
            SELECT
                app, day, category, campaign,
                count(*) AS stories,
                count(*) FILTER (WHERE story_started) AS started,
                count(*) FILTER (WHERE story_finished) AS completed,
                count(*) FILTER (WHERE story_exit = 1) AS exit_clicked,
                count(*) FILTER (WHERE story_exit = 2) AS exit_finished,
                count(*) FILTER (WHERE story_exit = 3) AS exit_fallback,
                count(*) FILTER (WHERE story_exit = 4) AS exit_abandoned
            FROM recount_delivery WHERE story_exit <> 0 GROUP BY app, day, category, campaign
            """,
        behind: "\(sameStory) AND d.story_exit <> 0")

    static let storyKey = [
        Column("app", .app), Column("day"), Column("category", .word), Column("campaign", .word),
    ]

    static let sameStory = """
        d.app = cell.app AND d.day = cell.day AND d.category = cell.category AND d.campaign = cell.campaign
        """
}
