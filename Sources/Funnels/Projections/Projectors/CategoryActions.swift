internal import Telemetry
internal import Values

/// Per (app, day, category, action): which button was tapped, how often and how soon after the receipt.
enum CategoryActions: Projector {
    static let name = "category_actions"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: keys,
            columns: [
                .count(
                    "tapped_deliveries",
                    "Deliveries on which it was tapped. A delivery with taps of two buttons counts for both"),
                .count("taps", "Taps of it, including repeated ones"),
                .count("foreground_taps", "Taps that brought the app to the front"),
                .count("timed", "Deliveries with a tap of it at or after their earliest receipt"),
            ] + SoleTaps.columns, view: .byHand,
            recount: .init(
                """
                SELECT
                    app, day, category, action_id,
                    count(*) AS tapped_deliveries,
                    sum(taps)::bigint AS taps,
                    sum(foreground_taps)::bigint AS foreground_taps,
                    count(microseconds) AS timed,
                    count(*) FILTER (WHERE sole) AS sole,
                    count(*) FILTER (WHERE sole AND received) AS received_sole
                FROM recount_tap GROUP BY app, day, category, action_id
                """, behind: tapped(""))),
        TallyTable(
            "category_action_times",
            keys: keys + [.number("bucket", "Bucket of the time from the earliest receipt to the first tap")],
            columns: [.count("deliveries", "Deliveries with a time in this bucket")], view: .none,
            recount: .init(
                """
                SELECT app, day, category, action_id, \(TimeBuckets.sql("microseconds")) AS bucket, count(*) AS deliveries
                FROM recount_tap WHERE microseconds IS NOT NULL
                GROUP BY app, day, category, action_id, \(TimeBuckets.sql("microseconds"))
                """,
                behind: tapped("AND \(TimeBuckets.sql("t.microseconds")) = cell.bucket"))),
    ]

    private static let keys: [TallyTable.Key] = [.category, .word("action_id", "Identifier of the button")]

    private static func tapped(_ condition: String) -> String {
        """
        \(sameDay) AND d.category = cell.category
            AND EXISTS (
                SELECT FROM recount_tap AS t
                WHERE t.app = d.app AND t.install_id = d.install_id AND t.notification_key = d.notification_key
                    AND t.action_id = cell.action_id \(condition))
        """
    }

    static let counted = Counted(histograms: [
        .init(column: "times", table: "category_action_times", key: "bucket", count: "deliveries")
    ])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard facts.flags.contains(.actionTapped) else { return }
        let sole: Int64 = facts.flags.contains(.sole) ? 1 : 0
        let receivedSole = facts.flags.contains(.received) ? sole : 0
        for (action, taps) in ActionTaps.byAction(of: delivery.state) {
            tallies[0].add(
                [1, taps.taps, taps.foreground, taps.afterReceipt == nil ? 0 : 1, sole, receivedSole], times: weight,
                at: Tally.Keys(facts.attributes.category, action), of: delivery)
            guard let time = taps.afterReceipt else { continue }
            let bucket = TimeBuckets.bucket(ofMicroseconds: time)
            tallies[1].add(
                1 as UInt32, times: weight, at: Tally.Keys(facts.attributes.category, action, Int32(bucket)),
                of: delivery)
        }
    }
}

/// What one delivery says of one of its buttons.
struct ActionTaps: Hashable {
    var taps: Int64 = 0
    var foreground: Int64 = 0
    /// Microseconds from the earliest receipt to the first tap not before it; nil without such.
    var afterReceipt: Int64?

    /// By action, of all taps of a delivery; of those, the first 1,000 can be timed.
    static func byAction(of state: DeliveryState) -> [Int32: ActionTaps] {
        var actions: [Int32: ActionTaps] = [:]
        let receipt = state.observations.first { $0.type == .notificationReceived }?.moment.occurredAt
        for tap in state.observations where tap.type == .actionTapped && tap.action != 0 {
            var action = actions[tap.action] ?? ActionTaps()
            action.taps += 1
            if tap.isForegroundTap { action.foreground += 1 }
            if action.afterReceipt == nil, let receipt, tap.moment.occurredAt >= receipt {
                action.afterReceipt = tap.moment.occurredAt - receipt
            }
            actions[tap.action] = action
        }
        for (action, surplus) in state.surplusTaps {
            actions[action, default: ActionTaps()].taps += surplus.taps
            actions[action, default: ActionTaps()].foreground += surplus.foreground
        }
        return actions
    }
}
