extension Recount {
    /// What became of the notifications of each category.
    package static let categoryFunnel = Recount(
        table: "category_funnel",
        key: [Column("app", .app), Column("day"), Column("category", .word)],
        values: deliveryCounts,
        sql: """
            SELECT app, day, category, \(deliveryCountsSQL)
            FROM recount_delivery WHERE NOT silent GROUP BY app, day, category
            """,
        behind: "d.app = cell.app AND d.day = cell.day AND d.category = cell.category AND \(noneSilent)")
}
