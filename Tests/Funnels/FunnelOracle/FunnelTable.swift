/// A funnel as text, to be compared with what a view shows, and to say in a line each what differs.
package struct FunnelTable: Sendable {
    /// The view in schema `analytics`, or what stands for one.
    package let view: String
    /// The projection's table.
    package let table: String
    /// What a query reads it from.
    package let source: String
    /// The key's columns first.
    package let columns: [String]
    /// How many of them make the key.
    package let keyWidth: Int
    /// See `FunnelRow.isSum`.
    package let isSum: Bool
    /// In the order of the key; nil for null.
    package private(set) var rows: [[String?]]

    package init<Row: FunnelRow>(_ rows: [Row]) {
        let columns = Row.columns
        view = Row.view
        table = Row.table
        source = Row.source
        self.columns = columns.map(\.name)
        keyWidth = Row.keyColumns.count
        isSum = Row.isSum
        self.rows = rows.map { row in columns.map { $0.cell(row).text } }
    }

    /// The same funnel as somebody else shows it.
    package func with(_ rows: [[String?]]) -> FunnelTable {
        var table = self
        table.rows = rows
        return table
    }

    /// A query for these columns as text. Its rows, in whatever order, are what `differences(in:)` takes.
    package var query: String {
        "SELECT \(columns.map(FunnelTable.text).joined(separator: ", ")) FROM \(source)"
    }

    /// A column as this table writes it: times in RFC 3339, and one of these ends the names of their columns.
    private static func text(of column: String) -> String {
        ["_at", "_seen", "_since"].contains { column.hasSuffix($0) }
            ? "to_char(\"\(column)\" AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')" : "\"\(column)\"::text"
    }

    /// What differs from this table in other rows, a line for each cell, missing row and row too many; empty when
    /// nothing does. A median may be off by a tenth, as the contract allows, but a 0 must be 0.
    package func differences(in others: [[String?]]) -> [String] {
        let expected = Dictionary(grouping: rows, by: key)
        let found = Dictionary(grouping: others, by: key)
        var lines: [String] = []
        for row in rows {
            guard let other = found[key(of: row)] else {
                lines.append("\(title(of: row)): missing, expected \(numbers(of: row))")
                continue
            }
            lines += differences(of: row, in: other[0])
        }
        for row in others where expected[key(of: row)] == nil {
            lines.append("\(title(of: row)): not expected, has \(numbers(of: row))")
        }
        for (_, twins) in found where twins.count > 1 {
            lines.append("\(title(of: twins[0])): stands \(twins.count) times")
        }
        return lines
    }

    private func differences(of row: [String?], in other: [String?]) -> [String] {
        guard row.count == other.count else {
            return ["\(title(of: row)): has \(other.count) columns, expected \(row.count)"]
        }
        return columns.indices.dropFirst(keyWidth)
            .filter { !FunnelTable.agrees(other[$0], with: row[$0], in: columns[$0]) }
            .map { "\(title(of: row)): \(columns[$0]) is \(shown(other[$0])), expected \(shown(row[$0]))" }
    }

    /// The columns that a product may tell less exactly: within 10 %, though 0 is 0.
    private static let approximate: Set<String> = [CategoryActions.medianColumn, "p90_seconds"]

    private static func agrees(_ found: String?, with expected: String?, in column: String) -> Bool {
        guard approximate.contains(column), let found, let expected else {
            return found.map { Label($0) } == expected.map { Label($0) }
        }
        guard let found = Double(found), let expected = Double(expected) else { return false }
        return abs(found - expected) <= expected / 10
    }

    private func key(of row: [String?]) -> [Label?] { row.prefix(keyWidth).map { $0.map { Label($0) } } }

    private func title(of row: [String?]) -> String {
        "\(view) \(row.prefix(keyWidth).map(shown).joined(separator: " | "))"
    }

    private func numbers(of row: [String?]) -> String {
        zip(columns, row).dropFirst(keyWidth).map { "\($0)=\(shown($1))" }.joined(separator: " ")
    }

    private func shown(_ text: String?) -> String { text.map { $0.isEmpty ? "''" : $0 } ?? "null" }
}
