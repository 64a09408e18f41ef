package import Values

/// The example of the guide "Adding a projector": one row per (app, day, origin).
package struct OriginFunnel: FunnelRow {
    package let app: Label
    package let day: CivilDate
    package let origin: Label
    package let delivered: Int
    package let responded: Int

    package static let view = "origin_funnel"

    package static var keyColumns: [Column<OriginFunnel>] {
        [Column("app", \.app), Column("day") { .day($0.day) }, Column("origin", \.origin)]
    }

    package static var numberColumns: [Column<OriginFunnel>] {
        [Column("delivered", \.delivered), Column("responded", \.responded)]
    }

    package static func rows(of deliveries: [Delivery]) -> [OriginFunnel] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) { delivery in
            [delivery.name.app, Label(delivery.facts.day.description), delivery.facts.origin]
        }
        .map { key, alike in
            OriginFunnel(
                app: key[0], day: alike[0].facts.day, origin: key[2], delivered: alike.count,
                responded: alike.count { $0.facts.responded })
        }
        .sortedByKey()
    }
}
