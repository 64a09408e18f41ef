extension Recount {
    /// What silent pushes brought.
    package static let silentFunnel = Recount(
        table: "silent_funnel",
        key: [Column("app", .app), Column("day"), Column("campaign", .word)],
        values: Column.counts("woken", "new_data", "no_data", "failed", "no_result"),
        sql: """
            SELECT
                app, day, campaign,
                count(*) AS woken,
                count(*) FILTER (WHERE fetch_result = 1) AS new_data,
                count(*) FILTER (WHERE fetch_result = 2) AS no_data,
                count(*) FILTER (WHERE fetch_result = 3) AS failed,
                count(*) FILTER (WHERE fetch_result = 0) AS no_result
            FROM recount_delivery WHERE silent GROUP BY app, day, campaign
            """,
        behind: "d.app = cell.app AND d.day = cell.day AND d.campaign = cell.campaign AND d.flags & 1 = 1")
}
