internal import Telemetry
package import Values

/// **Per-category actions**, one row per (app, day, category, action_id).
///
/// Decided where the contract is silent:
/// - *`taps`* counts every `action.tapped` event of the action, however many one delivery has.
/// - *`foreground_taps`* are those with `activation` = foreground; `launch` does not matter, and a tap without
///   `activation` is none.
/// - *The earliest receipt* is any `notification.received` of the delivery, through whichever door.
/// - *"Not before"* compares `occurred_at` alone: a tap in the very microsecond of the receipt is timed, with 0, also
///   where `seq` or id puts it first.
/// - *Taps before the receipt* do not time; where a later tap of the same action follows, that one does. So a delivery
///   without receipt, or whose every tap of the action lies before it, is not timed.
/// - *The median* is null where `timed` is 0, and here exact to the microsecond.
package struct CategoryActions: FunnelRow {
    package let key: Key
    package let tappedDeliveries: Int
    package let taps: Int
    package let foregroundTaps: Int
    package let timed: Int
    /// Deliveries whose every response is a tap of this action, and those of them with a receipt.
    package let sole: Int
    package let receivedSole: Int
    /// The ⌈timed/2⌉-th smallest time from receipt to tap, in microseconds.
    package let median: Int64?

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let category: Label
        package let action: Label
    }

    package static let view = "category_actions"
    package static let medianColumn = "median_seconds"

    package static var keyColumns: [Column<CategoryActions>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("category", \.key.category),
            Column("action_id", \.key.action),
        ]
    }

    package static var numberColumns: [Column<CategoryActions>] {
        [
            Column("tapped_deliveries", \.tappedDeliveries), Column("taps", \.taps),
            Column("foreground_taps", \.foregroundTaps), Column("timed", \.timed),
            Column("sole", \.sole), Column("received_sole", \.receivedSole),
            Column(medianColumn) { $0.median.map { .seconds(microseconds: $0) } ?? .null },
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [CategoryActions] {
        let tapped = deliveries.flatMap { delivery in
            Set(delivery.events.compactMap { $0.actionTap.map { Label($0.actionID) } }).map { action in
                (delivery: delivery, action: action)
            }
        }
        return Dictionary(grouping: tapped) { delivery, action in
            Key(
                app: delivery.name.app, day: delivery.facts.day, category: delivery.facts.category, action: action)
        }
        .map { CategoryActions(key: $0, of: $1.map(\.delivery)) }
        .sortedByKey()
    }

    /// The row of an action from all deliveries of its app, day and category that have a tap of it.
    private init(key: Key, of deliveries: [Delivery]) {
        let taps = deliveries.flatMap(\.events).compactMap(\.actionTap).filter { Label($0.actionID) == key.action }
        let times = deliveries.compactMap { CategoryActions.time(to: key.action, in: $0) }.sorted()
        self.key = key
        tappedDeliveries = deliveries.count
        self.taps = taps.count
        foregroundTaps = taps.count { $0.activation == .foreground }
        timed = times.count
        let sole = deliveries.filter { $0.facts.soleAction == key.action }
        self.sole = sole.count
        receivedSole = sole.count { $0.facts.received }
        median = times.isEmpty ? nil : times[(times.count + 1) / 2 - 1]
    }

    /// Microseconds from a delivery's earliest receipt to the first tap of an action not before it.
    private static func time(to action: Label, in delivery: Delivery) -> Int64? {
        let receipts = delivery.events.filter { $0.type == .notificationReceived }.map(\.occurredAt)
        guard let receipt = receipts.min() else { return nil }
        let taps = delivery.events.filter { $0.actionTap.map { Label($0.actionID) } == action }.map(\.occurredAt)
        return taps.filter { $0 >= receipt }.min().map { $0 - receipt }
    }
}
