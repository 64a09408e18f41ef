/// A page for a terminal, in lines of at most 100 columns.
struct TextDocument {
    /// The maximum width of every line.
    static let width = 100
    /// Longer lines of prose are hard to read.
    static let measure = 84
    static let margin = 2

    private let page: Page

    init(_ page: Page) { self.page = page }

    /// Every line ends with a newline. Colour adds no information to the words.
    func text(inColour: Bool) -> String {
        lines.map { $0.text(inColour: inColour) + "\n" }.joined()
    }

    private var lines: [TextLine] {
        var lines = [TextLine()] + Self.prose(page.title, .bold) + Self.prose(page.subtitle, .faint)
        for (index, section) in page.sections.enumerated() {
            if index == page.leading {
                lines += [TextLine(), TextLine(), Self.heading(Page.divide, rule: "═"), TextLine()]
                lines += Self.prose(page.divideWords, .faint)
            }
            lines += [TextLine(), TextLine(), Self.heading(section.title), TextLine()] + Self.lines(of: section.blocks)
        }
        return lines + [TextLine()]
    }

    private static func heading(_ title: String, rule: String = "─") -> TextLine {
        var line = TextLine()
        line.add(rule + rule, .faint)
        line.move(to: 3)
        line.add(String(forTerminal: title).cut(to: width - 8, keeping: .beginning), .bold)
        line.move(to: line.column + 1)
        line.add(String(repeating: rule, count: max(0, width - line.column)), .faint)
        return line
    }

    private static func lines(of blocks: [Block]) -> [TextLine] {
        var lines: [TextLine] = []
        var before: Block?
        for block in blocks {
            if let before, !before.leads(to: block) { lines.append(TextLine()) }
            lines += self.lines(of: block)
            before = block
        }
        return lines
    }

    private static func lines(of block: Block) -> [TextLine] {
        switch block {
        case .sentence(let text, let tone): prose(text, TextLine.Style(tone), mark: tone.mark)
        case .pointer(let words, let section): lines(of: .sentence(words, pointingTo: section))
        case .figures(let figures): lines(of: figures)
        case .table(let table): lines(of: table)
        case .ladder(let ladder): lines(of: ladder)
        case .trend(let trend): lines(of: trend)
        }
    }

    /// Lines after the first are aligned with the words, not with the mark.
    private static func prose(_ text: String, _ style: TextLine.Style, mark: String = "") -> [TextLine] {
        String(forTerminal: text).wrapped(to: measure).enumerated().map { number, words in
            var line = TextLine(indent: margin)
            if number == 0 { line.add(mark, style) }
            line.move(to: margin + mark.displayWidth)
            line.add(words, style)
            return line
        }
    }
}

extension Block {
    /// Whether the next block follows without an empty line. Sentences do; small print is set apart.
    fileprivate func leads(to next: Block) -> Bool {
        guard let tone, let nextTone = next.tone else { return false }
        return (tone == .note) == (nextTone == .note)
    }

    /// Of a sentence.
    private var tone: Tone? {
        switch self {
        case .sentence(_, let tone): tone
        case .pointer: .plain
        case .figures, .table, .ladder, .trend: nil
        }
    }
}

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

    /// Each chart as a line with its latest figure and its range.
    static func lines(of trend: Trend) -> [TextLine] {
        let caption = String(forTerminal: trend.caption)
        let indent = self.indent(below: caption)
        let rows = trend.charts.map { chart in
            (
                name: String(forTerminal: chart.title).cut(to: widestName, keeping: .bothEnds),
                line: chart.sparkline, told: chart.latest, range: chart.range
            )
        }
        let start = indent + (rows.map(\.name.displayWidth).max() ?? 0) + gap
        let end = start + (rows.map(\.line.count).max() ?? 0) + gap + (rows.map(\.told.displayWidth).max() ?? 0)
        return self.caption(caption)
            + rows.map { row in
                var line = TextLine(indent: indent)
                line.add(row.name)
                line.move(to: start)
                line.add(row.line, .bar)
                line.move(to: end - row.told.displayWidth)
                line.add(row.told)
                line.move(to: end + gap)
                line.add(row.range.cut(to: max(1, width - end - gap), keeping: .beginning), .faint)
                return line
            }
    }

    private static let widestName = 24
    private static let widestLabel = 32
    private static let ladderWidth = 40
    private static let gap = 2
}
