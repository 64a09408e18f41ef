/// Per (app, day, category, action): which button was tapped, how often and how soon after the receipt.
enum CategoryActions: Projector {
    static let name = "category_actions"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "category_actions", keys: [.integer("category"), .integer("action_id")],
            counts: ["tapped_deliveries", "taps", "foreground_taps", "timed"]),
        TallyTable(
            "category_action_times", keys: [.integer("category"), .integer("action_id"), .smallint("bucket")],
            counts: ["deliveries"]),
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard facts.flags.contains(.actionTapped) else { return }
        for (action, taps) in ActionTaps.byAction(of: delivery.state) {
            tallies[0].add(
                [1, taps.taps, taps.foreground, taps.afterReceipt == nil ? 0 : 1], times: weight,
                at: [facts.attributes.category, action, 0, 0], of: delivery)
            guard let time = taps.afterReceipt else { continue }
            let bucket = ActionTaps.bucket(ofMicroseconds: time)
            tallies[1].add(
                1 as UInt32, times: weight, at: [facts.attributes.category, action, Int32(bucket), 0], of: delivery)
        }
    }
}
