/// How many deliveries had the buttons of their category before their eyes, one row per (app, day, category) where
/// there are any: those expanded or with a tap of a button, silent ones aside.
package struct CategoryExposures: FunnelRow {
    package let key: CategoryFunnel.Key
    package let exposed: Int

    package static let view = "category_exposures"

    package static var source: String {
        ProjectionSource(table: view, words: ["category"], numbers: [], sums: ["exposed"]).sql(as: view)
    }

    package static var keyColumns: [Column<CategoryExposures>] {
        [Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("category", \.key.category)]
    }

    package static var numberColumns: [Column<CategoryExposures>] { [Column("exposed", \.exposed)] }

    package static func rows(of deliveries: [Delivery]) -> [CategoryExposures] {
        let exposed = deliveries.filter { !$0.facts.silent && ($0.facts.expanded || $0.facts.actionTapped) }
        return Dictionary(grouping: exposed) {
            CategoryFunnel.Key(app: $0.name.app, day: $0.facts.day, category: $0.facts.category)
        }
        .map { CategoryExposures(key: $0, exposed: $1.count) }
        .sortedByKey()
    }
}
