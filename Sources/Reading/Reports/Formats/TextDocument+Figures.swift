extension TextDocument {
    /// Side by side in rows of equal length, as many as fit well.
    static func lines(of figures: [Figure]) -> [TextLine] {
        let safe = figures.map {
            Figure(String(forTerminal: $0.name), String(forTerminal: $0.value), detail: String(forTerminal: $0.detail))
        }
        guard !safe.isEmpty else { return [] }
        let abreast = self.abreast(safe)
        let room = columnWidth(abreast)
        let columns = safe.map { column($0, room) }
        let step = columns.joined().map(\.text.displayWidth).max().map { min($0, room) + figureGap } ?? 0
        var lines: [TextLine] = []
        for first in stride(from: 0, to: columns.count, by: abreast) {
            if first > 0 { lines.append(TextLine()) }
            let row = columns[first..<min(first + abreast, columns.count)]
            for number in 0..<(row.map(\.count).max() ?? 0) {
                var line = TextLine()
                for (index, column) in row.enumerated() where number < column.count {
                    line.move(to: margin + index * step)
                    line.add(column[number].text, column[number].style)
                }
                lines.append(line)
            }
        }
        return lines
    }

    /// The name above the value above the detail.
    private static func column(_ figure: Figure, _ room: Int) -> [(text: String, style: TextLine.Style)] {
        figure.name.wrapped(to: room).map { ($0, .faint) } + figure.value.wrapped(to: room).map { ($0, .bold) }
            + figure.detail.wrapped(to: room).map { ($0, .faint) }
    }

    private static func abreast(_ figures: [Figure]) -> Int {
        let most = (1...min(figures.count, mostAbreast)).reversed().first { count in
            figures.allSatisfy { figure in
                max(figure.name.displayWidth, figure.value.displayWidth) <= columnWidth(count)
                    && figure.detail.wrapped(to: columnWidth(count)).count <= 2
            }
        }
        let rows = (figures.count + (most ?? 1) - 1) / (most ?? 1)
        return (figures.count + rows - 1) / rows
    }

    private static func columnWidth(_ count: Int) -> Int { (width - margin - figureGap * (count - 1)) / count }

    private static let figureGap = 4
    private static let mostAbreast = 4
}
