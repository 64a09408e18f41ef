/// Every table that `verify` recounts.
package enum Recounts {
    package static let all = all(of: Projectors.all)

    /// Those of these projectors. The deliveries first: what differs there is told with every other cell.
    package static func all(of projectors: [any Projector.Type]) -> [Recount] {
        [.delivery] + projectors.flatMap { projector in projector.tables.map { Recount($0, of: projector) } }
    }

    /// The recount of a table.
    package static func of(_ table: String) -> Recount? { all.first { $0.table == table } }
}
