extension TextDocument {
    /// What has a caption stands below it, to its right.
    static func indent(below caption: String) -> Int { caption.isEmpty ? margin : 2 * margin }

    static func lines(of table: Table, indent: Int? = nil) -> [TextLine] {
        let indent = indent ?? self.indent(below: table.caption)
        let safe = table.forTerminal(room: width - indent)
        var lines = caption(safe.caption)
        for (place, part) in safe.parted(room: width - indent).enumerated() {
            if place > 0 { lines.append(TextLine()) }
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

    /// The titles stand on the rule below them, whatever lines they take.
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
