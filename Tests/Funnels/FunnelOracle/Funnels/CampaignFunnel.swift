package import Values

/// **Per-campaign funnel**, one row per (app, day, campaign, variant), as far as deliveries tell: what was sent and
/// what FCM says stands beside it in the view.
package struct CampaignFunnel: FunnelRow {
    package let key: Key
    package let counts: DeliveryCounts

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let campaign: Label
        package let variant: Label
    }

    package static let view = "campaign_funnel"

    package static var source: String {
        ProjectionSource(
            table: view, words: ["campaign", "variant"], numbers: [],
            sums: DeliveryCounts.columns.map(\.name).filter { $0 != "inferred" }, hasInferred: true
        ).sql(as: view)
    }

    package static var keyColumns: [Column<CampaignFunnel>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("campaign", \.key.campaign),
            Column("variant", \.key.variant),
        ]
    }

    package static var numberColumns: [Column<CampaignFunnel>] { DeliveryCounts.columns.map { $0.within(\.counts) } }

    package static func rows(of deliveries: [Delivery]) -> [CampaignFunnel] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) {
            Key(app: $0.name.app, day: $0.facts.day, campaign: $0.facts.campaign, variant: $0.facts.variant)
        }
        .map { CampaignFunnel(key: $0, counts: DeliveryCounts(of: $1)) }
        .sortedByKey()
    }
}
