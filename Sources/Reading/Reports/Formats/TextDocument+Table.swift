extension TextDocument {
    /// What has a caption is indented below it.
    static func indent(below caption: String) -> Int { caption.isEmpty ? margin : 2 * margin }

    static func lines(of table: Table, indent: Int? = nil) -> [TextLine] {
        let indent = indent ?? self.indent(below: table.caption)
        let safe = table.withScaledBars.forTerminal(room: width - indent)
        var lines = caption(safe.caption)
        for (index, part) in safe.parted(room: width - indent).enumerated() {
            if index > 0 { lines.append(TextLine()) }
            lines += titles(part.1, indent)
            lines += part.0.rows.map { row($0, part.1, indent) }
        }
        if safe.omitted > 0 {
            var line = TextLine(indent: indent)
            line.add("… and \(Wording.count(Int64(safe.omitted))) more", .faint)
            lines.append(line)
        }
        return lines
    }

    static func caption(_ text: String) -> [TextLine] {
        text.wrapped(to: measure).map { words in
            var line = TextLine(indent: margin)
            line.add(words, .bold)
            return line
        }
    }

    /// Titles of one line and of several all end directly above the rule.
    private static func titles(_ layout: TableLayout, _ indent: Int) -> [TextLine] {
        var lines = (0..<layout.titleLines).map { number in
            var line = TextLine()
            for column in layout.columns {
                let place = number - (layout.titleLines - column.title.count)
                guard place >= 0 else { continue }
                let words = column.title[place]
                let isRight =
                    column.kind != .name && column.title.allSatisfy { $0.displayWidth <= column.textWidth }
                line.move(to: indent + column.start + (isRight ? column.textWidth - words.displayWidth : 0))
                line.add(words, .faint)
            }
            return line
        }
        var rule = TextLine(indent: indent)
        rule.add(String(repeating: "─", count: layout.width), .faint)
        lines.append(rule)
        return lines
    }

    private static func row(_ cells: [Table.Cell], _ layout: TableLayout, _ indent: Int) -> TextLine {
        var line = TextLine()
        if let cell = cells.first, layout.columns.first?.kind == .name, !cell.tone.mark.isEmpty {
            line.move(to: indent - cell.tone.mark.displayWidth)
            line.add(cell.tone.mark, TextLine.Style(cell.tone))
        }
        for (cell, column) in zip(cells, layout.columns) {
            let start = indent + column.start
            let text = cell.text.cut(to: column.textWidth, keeping: .bothEnds)
            line.move(to: column.kind == .name ? start : start + column.textWidth - text.displayWidth)
            line.add(text, TextLine.Style(cell.tone))
            if let share = cell.share {
                line.move(to: start + column.textWidth + 1)
                line.add(Bar.blocks(share, width: column.barWidth), .bar)
            }
        }
        return line
    }
}

extension Table {
    /// Made safe for a terminal. Where the tone of a cell says more than its text, a mark is added.
    func forTerminal(room: Int) -> Table {
        Table(
            String(forTerminal: caption),
            columns: columns.map { Column(String(forTerminal: $0.title).cut(to: Table.widestFigure), $0.kind) },
            rows: rows.map { row in
                columns.indices.map { index in
                    var cell = index < row.count ? row[index] : Cell("")
                    let isName = columns[index].kind == .name
                    // The mark of the name that begins a row is put into the margin.
                    let mark = isName && index == 0 ? "" : cell.tone.mark
                    let text = mark + String(forTerminal: cell.text)
                    cell.text = isName ? text.cut(to: room, keeping: .bothEnds) : text.cut(to: Table.widestFigure)
                    return cell
                }
            }, omitted: omitted)
    }

    /// No real figure is wider.
    private static let widestFigure = 60

    /// Split into tables of fewer columns that all fit. Each begins with the first column, so readers find their row.
    func parted(room: Int) -> [(Table, TableLayout)] {
        let needs = columns.indices.map { index in TableColumnNeeds(columns[index], rows.map { $0[index] }) }
        func layout(_ chosen: [Int]) -> TableLayout? { TableLayout(chosen.map { needs[$0] }, room: room) }
        if let layout = layout(Array(columns.indices)) { return [(self, layout)] }
        let key = columns.first?.kind == .name ? [0] : []
        var parts: [(Table, TableLayout)] = []
        var rest = columns.indices.dropFirst(key.count)
        while let first = rest.popFirst() {
            var chosen = key + [first]
            // A shortened name and one figure always fit: the widest figure takes two thirds of a line.
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
    /// The mark before a text, for readers who see no colour.
    var mark: String {
        switch self {
        case .alarm: "! "
        case .good: "✓ "
        case .plain, .note: ""
        }
    }
}
