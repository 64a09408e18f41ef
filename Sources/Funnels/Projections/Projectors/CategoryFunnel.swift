/// Per (app, day, category): what became of the notifications of a category.
enum CategoryFunnel: Projector {
    static let name = "category_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [.category],
            columns: DeliveryCounts.columns + DeliveryCounts.rates + [
                .derived(
                    "dismiss_rate",
                    "CASE WHEN f.category = ANY (reported.categories) THEN round(f.dismissed / nullif(f.delivered, 0), 4) END",
                    """
                    dismissed / delivered. Null unless the category is registered with custom_dismiss, since otherwise iOS \
                    reports no dismissals
                    """)
            ],
            view: .sums(
                """
                What became of the notifications of each category, day by day, without silent ones. A delivery is one notification \
                on one install. It counts on the day of its first event.
                """,
                joining: """
                    CROSS JOIN LATERAL (
                        -- The categories for which iOS reports dismissals.
                        SELECT array_agg(c.category) AS categories FROM registry.shown_category AS c
                        WHERE c.app = app.id AND c.custom_dismiss
                    ) AS reported
                    """),
            recount: .init(
                DeliveryCounts.recount(by: "category"),
                behind: "\(sameDay) AND d.category = cell.category AND \(noneSilent)"))
    ]

    static let counted = Counted([.closed(by: "category_actions", of: "category_actions", keys: [.category])])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            DeliveryCounts.bits(of: facts.flags), times: weight, at: Tally.Keys(facts.attributes.category), of: delivery
        )
    }
}
