package import Values

/// The example of the guide "Adding a projector": one row per (app, day, origin).
package struct OriginFunnelNext: FunnelRow {
    package let app: Label
    package let day: CivilDate
    package let origin: Label
    package let delivered: Int
    package let responded: Int
    package let dismissed: Int

    package static let view = "origin_funnel"

    package static var keyColumns: [Column<OriginFunnelNext>] {
        [Column("app", \.app), Column("day") { .day($0.day) }, Column("origin", \.origin)]
    }

    package static var numberColumns: [Column<OriginFunnelNext>] {
        [Column("delivered", \.delivered), Column("responded", \.responded), Column("dismissed", \.dismissed)]
    }

    package static func rows(of deliveries: [Delivery]) -> [OriginFunnelNext] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) { delivery in
            [delivery.name.app, Label(delivery.facts.day.description), delivery.facts.origin]
        }
        .map { key, alike in
            OriginFunnelNext(
                app: key[0], day: alike[0].facts.day, origin: key[2], delivered: alike.count,
                responded: alike.count { $0.facts.responded }, dismissed: alike.count { $0.facts.dismissed })
        }
        .sortedByKey()
    }
}
