internal import Postgres

extension Tally {
    /// Adds the changes to the cells of a table's partition; nil if there are none.
    func upsert(into number: Int32) -> Statement? {
        let changes = changes
        guard !changes.isEmpty else { return nil }
        let keys = table.keys.map { Statement.quoted($0.name) }
        let counts = table.counts.map(Statement.quoted)
        var parameters: [Statement.Parameter] = [
            .init(number), .init(changes.map(\.cell.app)), .init(changes.map(\.cell.day)),
            .init(changes.map(\.cell.shard)),
        ]
        for (place, column) in table.keys.enumerated() {
            let values = changes.map { $0.cell.keys[place] }
            switch column.kind {
            case .word: parameters.append(.init(values))
            case .code, .number: parameters.append(.init(values.map { Int16(truncatingIfNeeded: $0) }))
            }
        }
        for place in counts.indices {
            parameters.append(.init(changes.map { $0.counts[$0.counts.startIndex + place] }))
        }
        let columns = (["app", "day", "shard"] + keys + counts).joined(separator: ", ")
        let arrays = parameters.indices.dropFirst().map { "$\($0 + 1)" }.joined(separator: ", ")
        let sums = counts.map { "\($0) = cell.\($0) + excluded.\($0)" }.joined(separator: ", ")
        let name = Statement.quoted("\(table.name)_\(number)")
        // Names are those of the table's definition in this program; values are bound.
        return Statement(
            """
            INSERT INTO projection.\(name) AS cell (tables, \(columns))
            SELECT $1, \(columns) FROM unnest(\(arrays)) AS change (\(columns))
            ON CONFLICT (app, day, \(keys.joined(separator: ", ")), shard, tables) DO UPDATE SET \(sums)
            """, parameters)
    }
}
