package import Values

/// **Per-thread funnel**, one row per (app, day, thread).
///
/// Decided: a `summary_argument_count` of 0 is a count like any other, so a delivery that gives only that adds no item.
package struct ThreadFunnel: FunnelRow {
    package let key: Key
    package let counts: DeliveryCounts
    /// The sum of each delivery's greatest `summary_argument_count`, 1 where none.
    package let items: Int64

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let thread: Label
    }

    package static let view = "thread_funnel"

    package static var keyColumns: [Column<ThreadFunnel>] {
        [Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("thread", \.key.thread)]
    }

    package static var numberColumns: [Column<ThreadFunnel>] {
        DeliveryCounts.columns.map { $0.within(\.counts) } + [Column("items", \.items)]
    }

    package static func rows(of deliveries: [Delivery]) -> [ThreadFunnel] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) {
            Key(app: $0.name.app, day: $0.facts.day, thread: $0.facts.thread)
        }
        .map { key, deliveries in
            ThreadFunnel(
                key: key, counts: DeliveryCounts(of: deliveries),
                items: deliveries.reduce(0) { $0 + $1.facts.items })
        }
        .sortedByKey()
    }
}
