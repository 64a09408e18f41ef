internal import ServiceRuntime

/// How a command writes its data.
package enum OutputFormat: String, CaseIterable {
    case text, json
}

extension Option {
    /// Output for people, or for programs.
    package static func format(_ path: Property<Target, OutputFormat>) -> Option {
        Option("format", "FORMAT", path, .word, help: "text or json (default)")
    }
}

/// Columns for a terminal, as wide as their widest cell.
package struct TextTable {
    private var rows: [[String]]

    package init(_ header: [String]) { rows = [header] }

    /// Adds a row. Control characters and characters that change direction are made visible.
    package mutating func add(_ cells: [String]) {
        rows.append(cells.map(String.init(printable:)))
    }

    package var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
