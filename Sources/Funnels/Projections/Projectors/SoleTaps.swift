/// Deliveries whose every response is a tap of one and the same action. Closing a notification by a button is an
/// answer, but not engagement. Which buttons close is registered apart from the events, and may change. So the funnels
/// store these deliveries by action, and their views leave out those that only closed, as registration has it when they
/// are read.
enum SoleTaps {
    static let columns: [TallyTable.Column] = [
        .count(
            "sole", "Deliveries whose every response is a tap of this button: not opened, and no other button tapped"),
        .count("received_sole", "Deliveries in sole that have a receipt"),
    ]

    /// The table that a funnel with these keys keeps beside its own.
    static func table(_ name: String, keys: [TallyTable.Key]) -> TallyTable {
        let names = (keys.map(\.name) + ["category"]).joined(separator: ", ")
        return TallyTable(
            name, keys: keys + [.category, .word("action_id", "Identifier of the button")], columns: columns,
            view: .none,
            recount: .init(
                """
                SELECT
                    app, day, \(names), first_response AS action_id,
                    count(*) AS sole,
                    count(*) FILTER (WHERE received) AS received_sole
                FROM recount_delivery WHERE sole GROUP BY app, day, \(names), first_response
                """,
                behind: """
                    d.app = cell.app AND d.day = cell.day AND \(DeliveryFlags.sole.any)
                        AND (\((keys.map { "d.\($0.name)" } + ["d.category", "d.first_response"]).joined(separator: ", ")))
                        = (\((keys.map { "cell.\($0.name)" } + ["cell.category", "cell.action_id"]).joined(separator: ", ")))
                    """))
    }

    /// Counts a delivery in the table of a funnel that has so many keys of its own, and these for the delivery.
    static func count(_ delivery: Delivery, _ weight: Int64, at keys: Tally.Keys, width: Int, into tally: inout Tally) {
        guard let action = delivery.facts.soleAction else { return }
        var keys = keys
        (keys[width], keys[width + 1]) = (delivery.facts.attributes.category, action)
        tally.add(delivery.facts.flags.contains(.received) ? 0b11 : 0b01, times: weight, at: keys, of: delivery)
    }
}
