internal import Telemetry

/// Per (app, day, origin): whether people respond to local notifications as they do to remote ones.
enum OriginFunnel: Projector {
    static let name = "origin_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: [.code("origin", Origin.allCases.map(\.wire), "remote or local; '' for deliveries without one")],
            columns: [
                .count("delivered", "Deliveries with any event, without silent ones"),
                .count("responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
                .rate("response_rate", "responded", "delivered", "responded / delivered"),
            ],
            view: .sums("What became of local and remote notifications."),
            recount: .init(
                """
                SELECT app, day, origin, count(*) AS delivered, count(*) FILTER (WHERE responded) AS responded
                FROM recount_delivery WHERE NOT silent GROUP BY app, day, origin
                """, behind: "\(sameDay) AND d.origin = cell.origin AND \(noneSilent)"))
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            facts.flags.isResponded ? 0b11 : 0b01, times: weight, at: Tally.Keys(Int32(facts.attributes.origin)),
            of: delivery)
    }
}
