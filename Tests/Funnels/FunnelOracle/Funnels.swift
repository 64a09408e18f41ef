/// Every funnel of the contract's section 4, and the deliveries behind them: each sorted by its key.
package struct Funnels: Sendable {
    /// All kinds of rows, the deliveries first.
    package static let kinds: [any FunnelRow.Type] = [
        DeliveryRow.self, CategoryFunnel.self, CategoryActions.self, StoryFunnel.self, StoryPageFunnel.self,
        ThreadFunnel.self, VersionFunnel.self, SilentFunnel.self, MediaFunnel.self, CategoryExposures.self,
        CampaignFunnel.self, StoryPageAdvances.self, StoryPageGaps.self, ThreadSoles.self, VersionSoles.self,
        CampaignSoles.self, SendDelays.self, InstallRow.self, InstallDays.self, MutedAfter.self,
        GoalRow.self, GoalFunnel.self, GoalTimes.self,
    ]

    /// The views of goals, which depend on all deliveries of an install together.
    package static let ofGoals = [GoalRow.view, GoalFunnel.view, GoalTimes.view]

    /// An array of rows by their type.
    private var rows: [ObjectIdentifier: any Sendable] = [:]

    package init(of deliveries: [Delivery] = [], _ days: [InstallDay] = []) {
        for kind in Funnels.kinds { add(kind, of: deliveries, days) }
    }

    private mutating func add<Row: FunnelRow>(_ kind: Row.Type, of deliveries: [Delivery], _ days: [InstallDay]) {
        rows[ObjectIdentifier(kind)] = kind.rows(of: deliveries, days)
    }

    private func rows<Row: FunnelRow>(_ kind: Row.Type = Row.self) -> [Row] {
        rows[ObjectIdentifier(kind)] as? [Row] ?? []
    }

    package var deliveries: [DeliveryRow] { rows() }
    package var categories: [CategoryFunnel] { rows() }
    package var actions: [CategoryActions] { rows() }
    package var stories: [StoryFunnel] { rows() }
    package var pages: [StoryPageFunnel] { rows() }
    package var threads: [ThreadFunnel] { rows() }
    package var versions: [VersionFunnel] { rows() }
    package var silent: [SilentFunnel] { rows() }
    package var media: [MediaFunnel] { rows() }
    package var exposures: [CategoryExposures] { rows() }
    package var campaigns: [CampaignFunnel] { rows() }
    package var advances: [StoryPageAdvances] { rows() }
    package var gaps: [StoryPageGaps] { rows() }

    /// All of them as tables of text.
    package var tables: [FunnelTable] {
        func table<Row: FunnelRow>(_ kind: Row.Type) -> FunnelTable { FunnelTable(rows(kind)) }
        return Funnels.kinds.map { table($0) }
    }

    /// What differs from these funnels in others, a line for each; empty when nothing does.
    package func differences(in others: Funnels) -> [String] {
        zip(tables, others.tables).flatMap { $0.differences(in: $1.rows) }
    }
}
