/// Per (app, day, category): how many people saw the buttons. These show only while a notification is pressed and held,
/// which is known when its content extension was shown or a button was tapped.
enum CategoryExposures: Projector {
    static let name = "category_exposures"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [.category],
            columns: [.count("exposed", "Deliveries whose content extension was shown or that had a button tapped")],
            view: .none,
            recount: .init(
                """
                SELECT app, day, category, count(*) AS exposed
                FROM recount_delivery WHERE expanded OR action_tapped GROUP BY app, day, category
                """,
                behind: """
                    \(sameDay) AND d.category = cell.category AND \(DeliveryFlags([.expanded, .actionTapped]).any)
                    """))
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isDisjoint(with: [.expanded, .actionTapped]) else { return }
        tallies[0].add(1 as UInt32, times: weight, at: Tally.Keys(facts.attributes.category), of: delivery)
    }
}
