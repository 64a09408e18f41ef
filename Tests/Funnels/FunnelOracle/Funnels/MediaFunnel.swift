package import Values

/// **Media funnel**, one row per (app, day, category, kind, format, network, outcome, reason), of deliveries with a
/// media outcome.
///
/// Decided: a silent delivery stands in the silent funnel alone, so its media outcome counts nowhere. Kind and network
/// that the event with the first outcome leaves out are `''`, also where a later event gives them.
package struct MediaFunnel: FunnelRow {
    package let key: Key
    package let deliveries: Int
    package let responded: Int
    package let received: Int
    package let receivedResponded: Int
    package let bytes: Int64
    package let ms: Int64
    package let timed: Int

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let category: Label
        package let kind: Label
        package let format: Label
        package let network: Label
        package let outcome: Label
        package let reason: Label
    }

    package static let view = "media_funnel"

    package static var keyColumns: [Column<MediaFunnel>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("category", \.key.category),
            Column("kind", \.key.kind), Column("format", \.key.format), Column("network", \.key.network),
            Column("outcome", \.key.outcome), Column("reason", \.key.reason),
        ]
    }

    package static var numberColumns: [Column<MediaFunnel>] {
        [
            Column("deliveries", \.deliveries), Column("responded", \.responded), Column("received", \.received),
            Column("received_responded", \.receivedResponded), Column("bytes", \.bytes), Column("ms", \.ms),
            Column("timed", \.timed),
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [MediaFunnel] {
        let withOutcome = deliveries.filter { !$0.facts.silent }.compactMap { delivery in
            delivery.facts.media.map { (media: $0, delivery: delivery) }
        }
        return Dictionary(grouping: withOutcome) { media, delivery in
            Key(
                app: delivery.name.app, day: delivery.facts.day, category: delivery.facts.category, kind: media.kind,
                format: media.format, network: media.network, outcome: media.outcome, reason: media.reason)
        }
        .map { key, group in
            let facts = group.map(\.delivery.facts)
            return MediaFunnel(
                key: key, deliveries: group.count, responded: facts.count { $0.responded },
                received: facts.count { $0.received }, receivedResponded: facts.count { $0.receivedResponded },
                bytes: group.reduce(0) { $0 + $1.media.bytes }, ms: group.reduce(0) { $0 + ($1.media.ms ?? 0) },
                timed: group.count { $0.media.ms != nil })
        }
        .sortedByKey()
    }
}
