internal import Values

/// Deliveries whose every response is a tap of one and the same action, by the keys of a funnel and by that action:
/// what its view leaves out of `engaged` where the action is registered as one that closes or declines.
package protocol SoleTaps: FunnelRow {
    /// The funnel's own keys besides app and day, as a delivery has them.
    static var names: [(name: String, of: @Sendable (DeliveryFacts) -> Label)] { get }
    var counts: SoleCounts { get }
    init(counts: SoleCounts)
}

package struct SoleCounts: Hashable, Sendable {
    let app: Label
    let day: CivilDate
    /// The funnel's keys, then category and action.
    let keys: [Label]
    let sole: Int
    let receivedSole: Int
}

extension SoleTaps {
    /// The columns besides app and day.
    private static var words: [String] { names.map(\.name) + ["category", "action_id"] }

    package static var source: String {
        ProjectionSource(
            table: view, projector: view.replacing("soles", with: "funnel"), words: words, numbers: [],
            sums: ["sole", "received_sole"]
        ).sql(as: view)
    }

    package static var keyColumns: [Column<Self>] {
        [Column("app") { .text($0.counts.app) }, Column("day") { .day($0.counts.day) }]
            + words.enumerated().map { place, name in Column(name) { .text($0.counts.keys[place]) } }
    }

    package static var numberColumns: [Column<Self>] {
        [Column("sole", \.counts.sole), Column("received_sole", \.counts.receivedSole)]
    }

    package static func rows(of deliveries: [Delivery]) -> [Self] {
        Dictionary(grouping: deliveries.filter { $0.facts.soleAction != nil }) { delivery in
            let facts = delivery.facts
            return [delivery.name.app, Label(facts.day.description)] + names.map { $0.of(facts) }
                + [facts.category, facts.soleAction ?? .empty]
        }
        .map { key, alike in
            Self(
                counts: SoleCounts(
                    app: key[0], day: alike[0].facts.day, keys: Array(key.dropFirst(2)), sole: alike.count,
                    receivedSole: alike.count { $0.facts.received }))
        }
        .sortedByKey()
    }
}

package struct ThreadSoles: SoleTaps {
    package let counts: SoleCounts
    package init(counts: SoleCounts) { self.counts = counts }
    package static let view = "thread_soles"
    package static var names: [(name: String, of: @Sendable (DeliveryFacts) -> Label)] { [("thread", \.thread)] }
}

package struct VersionSoles: SoleTaps {
    package let counts: SoleCounts
    package init(counts: SoleCounts) { self.counts = counts }
    package static let view = "version_soles"
    package static var names: [(name: String, of: @Sendable (DeliveryFacts) -> Label)] {
        [("platform", \.platform), ("app_version", \.appVersion)]
    }
}

package struct CampaignSoles: SoleTaps {
    package let counts: SoleCounts
    package init(counts: SoleCounts) { self.counts = counts }
    package static let view = "campaign_soles"
    package static var names: [(name: String, of: @Sendable (DeliveryFacts) -> Label)] {
        [("campaign", \.campaign), ("variant", \.variant)]
    }
}
