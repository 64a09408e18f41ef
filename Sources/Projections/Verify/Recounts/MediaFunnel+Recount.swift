internal import Telemetry

extension Recount {
    /// Whether pictures and films arrive, and over which network.
    package static let mediaFunnel = Recount(
        table: "media_funnel",
        key: [
            Column("app", .app), Column("day"), Column("category", .word),
            Column("kind", .code(MediaKind.allCases.map(\.wire))),
            Column("network", .code(MediaNetwork.allCases.map(\.wire))),
            Column("outcome", .code(MediaOutcome.allCases.map(\.wire))),
        ],
        values: Column.counts("deliveries", "responded"),
        sql: """
            SELECT
                app, day, category, media_kind AS kind, media_network AS network, media_outcome AS outcome,
                count(*) AS deliveries,
                count(*) FILTER (WHERE responded) AS responded
            FROM recount_delivery WHERE NOT silent AND media_outcome <> 0
            GROUP BY app, day, category, media_kind, media_network, media_outcome
            """,
        behind: """
            d.app = cell.app AND d.day = cell.day AND d.category = cell.category AND d.media_kind = cell.kind
                AND d.media_network = cell.network AND d.media_outcome = cell.outcome AND \(noneSilent)
            """)
}
