package import Values

/// **Per-category funnel**, one row per (app, day, category).
package struct CategoryFunnel: FunnelRow {
    package let key: Key
    package let counts: DeliveryCounts

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let category: Label
    }

    package static let view = "category_funnel"

    package static var keyColumns: [Column<CategoryFunnel>] {
        [Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("category", \.key.category)]
    }

    package static var numberColumns: [Column<CategoryFunnel>] { DeliveryCounts.columns.map { $0.within(\.counts) } }

    package static func rows(of deliveries: [Delivery]) -> [CategoryFunnel] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) {
            Key(app: $0.name.app, day: $0.facts.day, category: $0.facts.category)
        }
        .map { CategoryFunnel(key: $0, counts: DeliveryCounts(of: $1)) }
        .sortedByKey()
    }
}
