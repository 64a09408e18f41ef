extension Recount {
    /// What became of the notifications on each version of the app.
    package static let versionFunnel = Recount(
        table: "version_funnel",
        key: [Column("app", .app), Column("day"), Column("platform", .word), Column("app_version", .word)],
        values: deliveryCounts,
        sql: """
            SELECT app, day, platform, app_version, \(deliveryCountsSQL)
            FROM recount_delivery WHERE NOT silent GROUP BY app, day, platform, app_version
            """,
        behind: """
            d.app = cell.app AND d.day = cell.day AND d.platform = cell.platform
                AND d.app_version = cell.app_version AND \(noneSilent)
            """)
}
