package import Values

/// **Media funnel**, one row per (app, day, category, kind, network, outcome), of deliveries with a media outcome.
///
/// Decided: a silent delivery stands in the silent funnel alone, so its media outcome counts nowhere. Kind and network
/// that the event with the first outcome leaves out are `''`, also where a later event gives them.
package struct MediaFunnel: FunnelRow {
    package let key: Key
    package let deliveries: Int
    package let responded: Int

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let category: Label
        package let media: MediaFacts
    }

    package static let view = "media_funnel"

    package static var keyColumns: [Column<MediaFunnel>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("category", \.key.category),
            Column("kind", \.key.media.kind), Column("network", \.key.media.network),
            Column("outcome", \.key.media.outcome),
        ]
    }

    package static var numberColumns: [Column<MediaFunnel>] {
        [Column("deliveries", \.deliveries), Column("responded", \.responded)]
    }

    package static func rows(of deliveries: [Delivery]) -> [MediaFunnel] {
        let withOutcome = deliveries.filter { !$0.facts.silent }.compactMap { delivery in
            delivery.facts.media.map { (media: $0, delivery: delivery) }
        }
        return Dictionary(grouping: withOutcome) { media, delivery in
            Key(app: delivery.name.app, day: delivery.facts.day, category: delivery.facts.category, media: media)
        }
        .map { key, group in
            MediaFunnel(
                key: key, deliveries: group.count, responded: group.count { $0.delivery.facts.responded })
        }
        .sortedByKey()
    }
}
