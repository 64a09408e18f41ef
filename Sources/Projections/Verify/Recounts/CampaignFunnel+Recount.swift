extension Recount {
    /// What became of the notifications of each campaign and variant.
    package static let campaignFunnel = Recount(
        table: "campaign_funnel",
        key: [Column("app", .app), Column("day"), Column("campaign", .word), Column("variant", .word)],
        values: deliveryCounts,
        sql: """
            SELECT app, day, campaign, variant, \(deliveryCountsSQL)
            FROM recount_delivery WHERE NOT silent GROUP BY app, day, campaign, variant
            """,
        behind: """
            d.app = cell.app AND d.day = cell.day AND d.campaign = cell.campaign AND d.variant = cell.variant
                AND \(noneSilent)
            """)
}
