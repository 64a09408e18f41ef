extension Recount {
    /// How many had the buttons of a category before their eyes.
    package static let categoryExposures = Recount(
        table: "category_exposures",
        key: [Column("app", .app), Column("day"), Column("category", .word)],
        values: Column.counts("exposed"),
        sql: """
            SELECT app, day, category, count(*) AS exposed
            FROM recount_delivery WHERE expanded OR action_tapped GROUP BY app, day, category
            """,
        behind: "d.app = cell.app AND d.day = cell.day AND d.category = cell.category AND d.flags & (4 | 32) <> 0")
}
