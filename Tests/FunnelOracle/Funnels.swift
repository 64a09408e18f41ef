/// Every funnel of the contract's section 4, and the deliveries behind them: each sorted by its key.
package struct Funnels: Hashable, Sendable {
    package let deliveries: [DeliveryRow]
    package let categories: [CategoryFunnel]
    package let actions: [CategoryActions]
    package let stories: [StoryFunnel]
    package let pages: [StoryPageFunnel]
    package let threads: [ThreadFunnel]
    package let versions: [VersionFunnel]
    package let silent: [SilentFunnel]
    package let media: [MediaFunnel]
    package let exposures: [CategoryExposures]
    package let campaigns: [CampaignFunnel]
    package let advances: [StoryPageAdvances]
    package let gaps: [StoryPageGaps]

    init(of deliveries: [Delivery]) {
        self.deliveries = DeliveryRow.rows(of: deliveries)
        categories = CategoryFunnel.rows(of: deliveries)
        actions = CategoryActions.rows(of: deliveries)
        stories = StoryFunnel.rows(of: deliveries)
        pages = StoryPageFunnel.rows(of: deliveries)
        threads = ThreadFunnel.rows(of: deliveries)
        versions = VersionFunnel.rows(of: deliveries)
        silent = SilentFunnel.rows(of: deliveries)
        media = MediaFunnel.rows(of: deliveries)
        exposures = CategoryExposures.rows(of: deliveries)
        campaigns = CampaignFunnel.rows(of: deliveries)
        advances = StoryPageAdvances.rows(of: deliveries)
        gaps = StoryPageGaps.rows(of: deliveries)
    }

    /// All of them as tables of text, the deliveries first.
    package var tables: [FunnelTable] {
        [
            FunnelTable(deliveries), FunnelTable(categories), FunnelTable(actions), FunnelTable(stories),
            FunnelTable(pages), FunnelTable(threads), FunnelTable(versions), FunnelTable(silent), FunnelTable(media),
            FunnelTable(exposures), FunnelTable(campaigns), FunnelTable(advances), FunnelTable(gaps),
        ]
    }

    /// What differs from these funnels in others, a line for each; empty when nothing does.
    package func differences(in others: Funnels) -> [String] {
        zip(tables, others.tables).flatMap { $0.differences(in: $1.rows) }
    }
}
