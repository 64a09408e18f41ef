extension Table {
    /// Made safe for a terminal, with a mark in words where the tone of a cell says more than its text.
    func forTerminal(room: Int) -> Table {
        Table(
            String(forTerminal: caption),
            columns: columns.map { Column(String(forTerminal: $0.title).cut(to: Table.widestFigure), $0.kind) },
            rows: rows.map { row in
                columns.indices.map { index in
                    var cell = index < row.count ? row[index] : Cell("")
                    let isName = columns[index].kind == .name
                    // The mark of the name that begins a row hangs in the margin.
                    let mark = isName && index == 0 ? "" : cell.tone.mark
                    let text = mark + String(forTerminal: cell.text)
                    cell.text = isName ? text.cut(to: room, keeping: .bothEnds) : text.cut(to: Table.widestFigure)
                    return cell
                }
            }, omitted: omitted)
    }

    /// No figure is so wide; what is, is none.
    private static let widestFigure = 60

    /// Parted into tables of fewer columns, each with the first one for who looks for a row, so that all of them fit.
    func parted(room: Int) -> [(Table, TableLayout)] {
        let needs = columns.indices.map { index in TableColumnNeeds(columns[index], rows.map { $0[index] }) }
        func layout(_ chosen: [Int]) -> TableLayout? { TableLayout(chosen.map { needs[$0] }, room: room) }
        if let layout = layout(Array(columns.indices)) { return [(self, layout)] }
        let key = columns.first?.kind == .name ? [0] : []
        var parts: [(Table, TableLayout)] = []
        var rest = columns.indices.dropFirst(key.count)
        while let first = rest.popFirst() {
            var chosen = key + [first]
            // A name cut short and one figure always fit: the widest of those is two thirds of a line.
            guard var fitting = layout(chosen) else { preconditionFailure("two columns do not fit a line") }
            while let next = rest.first, let wider = layout(chosen + [next]) {
                (chosen, fitting) = (chosen + [next], wider)
                rest.removeFirst()
            }
            parts.append((only(chosen), fitting))
        }
        return parts
    }

    private func only(_ chosen: [Int]) -> Table {
        Table(
            caption, columns: chosen.map { columns[$0] }, rows: rows.map { row in chosen.map { row[$0] } },
            omitted: omitted)
    }
}

extension String {
    fileprivate func cut(to width: Int) -> String { cut(to: width, keeping: .beginning) }
}

extension Tone {
    /// What is said before a text for who sees no colour.
    var mark: String {
        switch self {
        case .alarm: "! "
        case .good: "✓ "
        case .plain, .note: ""
        }
    }
}
