/// A page in GitHub's Markdown, for pasting into an issue or a chat.
struct MarkdownDocument {
    private let page: Page

    init(_ page: Page) { self.page = page }

    var text: String {
        var parts = ["# \(String(markdown: page.title))\n", Self.paragraph(page.subtitle, .plain)]
        for (index, section) in page.sections.enumerated() {
            if index == page.leading {
                parts += ["# \(Page.divide)\n", Self.paragraph(page.divideWords, .plain)]
            }
            parts.append("## \(String(markdown: section.title))\n")
            parts += section.blocks.flatMap(Self.parts)
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Each part ends with a newline. Empty lines go between parts.
    private static func parts(of block: Block) -> [String] {
        switch block {
        case .sentence(let text, let tone): [paragraph(text, tone)]
        case .pointer(let words, let section): parts(of: .sentence(words, pointingTo: section))
        case .figures(let figures): [figures.map(item).joined()]
        case .table(let table): parts(of: table)
        case .ladder(let ladder): parts(of: ladder)
        case .trend(let trend): parts(of: trend)
        }
    }

    private static func paragraph(_ text: String, _ tone: Tone) -> String {
        let words = String(markdown: text)
        return words.isEmpty ? "" : tone.markdown(words) + "\n"
    }

    private static func item(_ figure: Figure) -> String {
        let detail = figure.detail.isEmpty ? "" : " · \(String(markdown: figure.detail))"
        return "- \(String(markdown: figure.name)): **\(String(markdown: figure.value))**\(detail)\n"
    }

    private static func caption(_ text: String) -> String {
        let words = String(markdown: text)
        return words.isEmpty ? "" : "**\(words)**\n"
    }

    private static func parts(of table: Table) -> [String] {
        let table = table.withScaledBars
        let hasBars = table.columns.indices.map { index in
            table.rows.contains { index < $0.count && $0[index].share != nil }
        }
        // The bar has a column of its own, so the figures stay aligned right.
        var drawn = MarkdownTable(
            zip(table.columns, hasBars).flatMap { column, hasBars in
                [(String(markdown: column.title), column.kind == .name ? .left : .right)]
                    + (hasBars ? [("", .left)] : [])
            })
        for row in table.rows {
            drawn.add(
                hasBars.indices.flatMap { index in
                    let cell = index < row.count ? row[index] : Table.Cell("")
                    return [self.cell(cell.text, cell.tone)]
                        + (hasBars[index] ? [Bar.blocks(cell.share ?? 0, width: 10)] : [])
                })
        }
        let omitted = table.omitted > 0 ? "_… and \(Wording.count(Int64(table.omitted))) more_\n" : ""
        return [caption(table.caption), drawn.text, omitted]
    }

    /// Leading blanks mean that the row belongs to the one above. Markdown drops plain blanks, so a wide one replaces
    /// them.
    private static func cell(_ text: String, _ tone: Tone) -> String {
        let words = tone.markdown(String(markdown: text))
        return text.hasPrefix("  ") && !words.isEmpty ? "\u{2003}" + words : words
    }

    private static func parts(of ladder: Ladder) -> [String] {
        var drawn = MarkdownTable([("Step", .left), ("", .left), ("Count", .right), ("Share", .right)])
        for step in ladder.steps {
            drawn.add([
                cell(step.label, .plain), Bar.blocks(step.share, width: 20), Wording.count(step.value),
                Wording.percent(step.share),
            ])
        }
        let table = ladder.table.columns.isEmpty ? [] : parts(of: ladder.table)
        return [caption(ladder.caption), drawn.text] + table
    }
}

extension MarkdownDocument {
    fileprivate static func parts(of trend: Trend) -> [String] {
        var drawn = MarkdownTable([("Figure", .left), ("", .left), ("Last", .right), ("Range", .left)])
        for chart in trend.charts {
            drawn.add([
                cell(chart.title, .plain), chart.sparkline, cell(chart.latest, .plain), cell(chart.range, .plain),
            ])
        }
        return [caption(trend.caption), drawn.text]
    }
}

extension Tone {
    fileprivate func markdown(_ words: String) -> String {
        if words.isEmpty { return words }
        return switch self {
        case .plain: words
        case .good: "✅ \(words)"
        case .alarm: "⚠️ **\(words)**"
        case .note: "_\(words)_"
        }
    }
}

/// A Markdown table whose source is readable as a table too.
struct MarkdownTable {
    enum Alignment {
        case left, right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    /// Adds a row: one cell for each column, as Markdown.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    var text: String {
        let widths = alignments.indices.map { index in
            // One very long name must not widen all rows.
            max(3, rows.map { $0[index].displayWidth }.filter { $0 <= 48 }.max() ?? 0)
        }
        let rule = zip(alignments, widths).map { alignment, width in
            let dashes = String(repeating: "-", count: width - 1)
            return alignment == .right ? dashes + ":" : "-" + dashes
        }
        let padded = rows.map { row in
            row.indices.map { index in
                let blanks = String(repeating: " ", count: max(0, widths[index] - row[index].displayWidth))
                return alignments[index] == .right ? blanks + row[index] : row[index] + blanks
            }
        }
        return ([padded[0], rule] + padded.dropFirst()).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }
}
