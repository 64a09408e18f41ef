extension TextDocument {
    static func lines(of ladder: Ladder) -> [TextLine] {
        let caption = String(forTerminal: ladder.caption)
        let indent = self.indent(below: caption)
        let steps = ladder.steps.map { step in
            (
                label: String(forTerminal: step.label).cut(to: widestLabel, keeping: .bothEnds),
                value: Wording.count(step.value), percent: Wording.percent(step.share), share: step.share
            )
        }
        let label = steps.map(\.label.displayWidth).max() ?? 0
        let value = steps.map(\.value.displayWidth).max() ?? 0
        let percent = steps.map(\.percent.displayWidth).max() ?? 0
        var lines = self.caption(caption)
        for step in steps {
            var line = TextLine(indent: indent)
            line.add(step.label)
            line.move(to: indent + label + gap)
            line.add(Bar.blocks(step.share, width: ladderWidth), .bar)
            let figures = indent + label + gap + ladderWidth + gap
            line.move(to: figures + value - step.value.displayWidth)
            line.add(step.value)
            line.move(to: figures + value + gap + percent - step.percent.displayWidth)
            line.add(step.percent, .faint)
            lines.append(line)
        }
        let table =
            ladder.table.columns.isEmpty
            ? [] : self.lines(of: ladder.table, indent: max(indent, self.indent(below: ladder.table.caption)))
        return lines.isEmpty || table.isEmpty ? lines + table : lines + [TextLine()] + table
    }

    private static let widestLabel = 32
    private static let ladderWidth = 40
    private static let gap = 2
}
