extension Recount {
    /// What became of the notifications of each thread, and for how many items they stood.
    package static let threadFunnel = Recount(
        table: "thread_funnel",
        key: [Column("app", .app), Column("day"), Column("thread", .word)],
        values: deliveryCounts + [Column("items")],
        sql: """
            SELECT app, day, thread, \(deliveryCountsSQL), sum(items)::bigint AS items
            FROM recount_delivery WHERE NOT silent GROUP BY app, day, thread
            """,
        behind: "d.app = cell.app AND d.day = cell.day AND d.thread = cell.thread AND \(noneSilent)")
}
