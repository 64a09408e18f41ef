package import Values

/// **Send delay**, one row per (app, day, campaign, variant): of deliveries with a receipt by the service extension
/// whose events say when they were sent. What only a send tells stands beside it in the view.
///
/// Decided: the receipt is the earliest one by the service extension; the sending is the first `sent_at` in event
/// order.
package struct SendDelays: FunnelRow {
    package let key: Key
    package let delayed: Int
    package let negative: Int
    /// The ⌈delayed/2⌉-th smallest delay and the ⌈9/10 delayed⌉-th, in microseconds, negative ones as 0.
    package let median: Int64
    package let ninth: Int64

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let campaign: Label
        package let variant: Label
    }

    package static let view = "send_delays"

    package static var keyColumns: [Column<SendDelays>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("campaign", \.key.campaign),
            Column("variant", \.key.variant),
        ]
    }

    package static var numberColumns: [Column<SendDelays>] {
        [
            Column("delayed", \.delayed), Column("negative", \.negative),
            Column("median_seconds") { .seconds(microseconds: $0.median) },
            Column("p90_seconds") { .seconds(microseconds: $0.ninth) },
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [SendDelays] {
        Dictionary(grouping: deliveries.filter { $0.facts.sendDelay != nil }) {
            Key(app: $0.name.app, day: $0.facts.day, campaign: $0.facts.campaign, variant: $0.facts.variant)
        }
        .map { key, group in
            let delays = group.compactMap(\.facts.sendDelay)
            let times = delays.map { max($0, 0) }.sorted()
            return SendDelays(
                key: key, delayed: delays.count, negative: delays.count { $0 < 0 },
                median: times[(times.count + 1) / 2 - 1], ninth: times[(times.count * 9 + 9) / 10 - 1])
        }
        .sortedByKey()
    }
}
