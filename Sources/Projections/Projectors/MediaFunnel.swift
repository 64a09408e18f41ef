internal import Telemetry

/// Per (app, day, category, kind, network, outcome): whether attachments arrive, and whether they help.
enum MediaFunnel: Projector {
    static let name = "media_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: [
                .category,
                .code(
                    "kind", MediaKind.allCases.map(\.wire),
                    "image, video, audio or unknown; '' where that event does not say"),
                .code(
                    "network", MediaNetwork.allCases.map(\.wire),
                    "Network it came over: wifi, cellular or other; '' where that event does not say"),
                .code(
                    "outcome", MediaOutcome.allCases.map(\.wire),
                    "attached, prefetched, timed_out, failed, skipped or none"),
            ],
            columns: [
                .count(
                    "deliveries", "Deliveries. Only receipts give an outcome, so each of these deliveries has a receipt"
                ),
                .count(
                    "responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
                .rate(
                    "response_rate", "responded", "deliveries",
                    "responded / deliveries, all of which have a receipt: the same measure as in category_funnel"),
            ],
            view: .sums(
                """
                Deliveries with a media outcome, by what became of the attachment. Each delivery counts once, by its first event \
                with an outcome. Silent deliveries do not count.
                """),
            recount: .init(
                """
                SELECT
                    app, day, category, media_kind AS kind, media_network AS network, media_outcome AS outcome,
                    count(*) AS deliveries,
                    count(*) FILTER (WHERE responded) AS responded
                FROM recount_delivery WHERE NOT silent AND media_outcome <> 0
                GROUP BY app, day, category, media_kind, media_network, media_outcome
                """,
                behind: """
                    \(sameDay) AND d.category = cell.category AND d.media_kind = cell.kind
                        AND d.media_network = cell.network AND d.media_outcome = cell.outcome AND \(noneSilent)
                    """))
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent, facts.media.outcome != 0 else { return }
        tallies[0].add(
            facts.flags.isResponded ? 0b11 : 0b01, times: weight,
            at: Tally.Keys(
                facts.attributes.category, Int32(facts.media.kind), Int32(facts.media.network),
                Int32(facts.media.outcome)), of: delivery)
    }
}
