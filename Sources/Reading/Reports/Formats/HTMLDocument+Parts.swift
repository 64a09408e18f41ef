internal import ServiceRuntime

extension HTMLDocument {
    /// A picture as wide as its place, with text in the reader's font size, and the table behind it.
    mutating func write(_ ladder: Ladder) {
        let isNarrow = ladder.table.columns.count <= 4
        write("<figure class=\"ladder\(isNarrow ? " beside" : "")\">\n")
        write("<figcaption>\(String(html: ladder.caption))</figcaption>\n")
        if !ladder.steps.isEmpty { picture(of: ladder) }
        write("<details>\n<summary>In figures</summary>\n")
        write(ladder.table)
        write("</details>\n</figure>\n")
    }

    private mutating func picture(of ladder: Ladder) {
        let id = makeID("ladder")
        let heights = StepHeights()
        let height = heights.step * ladder.steps.count - heights.gap
        write("<svg class=\"picture\" role=\"img\" aria-labelledby=\"\(id) \(id)-steps\" height=\"\(Em(height))\">\n")
        write("<title id=\"\(id)\">\(String(html: ladder.caption))</title>\n")
        let steps = ladder.steps.map { "\($0.label): \($0.told)" }
        write("<desc id=\"\(id)-steps\">\(String(html: steps.joined(separator: "; ")))</desc>\n")
        for (index, pair) in zip(ladder.steps, ladder.steps.dropFirst()).enumerated() {
            let (upper, lower) = (Percent(pair.0.share), Percent(pair.1.share))
            // The slope between two bars, as wide as the upper bar at its top and as the lower bar at its bottom.
            write("<svg y=\"\(Em(index * heights.step + heights.barEnd))\" height=\"\(Em(heights.between))\" ")
            write("viewBox=\"0 0 1000 1\" preserveAspectRatio=\"none\" width=\"100%\">")
            write("<path class=\"slope\" d=\"M0 0H\(upper.tenths)L\(lower.tenths) 1H0Z\"/></svg>\n")
        }
        for (index, step) in ladder.steps.enumerated() {
            let top = index * heights.step
            write("<text y=\"\(Em(top + heights.baseline))\">\(String(html: step.label))</text>")
            write("<text x=\"100%\" y=\"\(Em(top + heights.baseline))\" text-anchor=\"end\">")
            write(
                "\(Wording.count(step.value)) <tspan class=\"of\">· "
                    + "\(String(html: Wording.percent(step.share)))</tspan></text>"
            )
            write("<rect class=\"fill\" y=\"\(Em(top + heights.barStart))\" width=\"\(Percent(step.share))\" ")
            write("height=\"\(Em(heights.barEnd - heights.barStart))\" rx=\"2\"/>\n")
        }
        write("</svg>\n")
    }
}

extension Ladder.Step {
    fileprivate var told: String { "\(Wording.count(value)), \(Wording.percent(share))" }
}

/// The vertical layout of a step, in tenths of the font size: its text, its bar, and the gap to the next step.
private struct StepHeights {
    let baseline = 10
    let barStart = 15
    let barEnd = 25
    let gap = 10
    var step: Int { barEnd + gap }
    var between: Int { step + barStart - barEnd }
}

/// A length in multiples of the font size.
private struct Em: CustomStringConvertible {
    let tenths: Int

    init(_ tenths: Int) { self.tenths = tenths }

    var description: String { "\(tenths / 10).\(tenths % 10)em" }
}

extension HTMLDocument {
    /// A table in a box of its own. If the table is wider than the screen, the box scrolls and the page does not.
    mutating func write(_ table: Table) {
        let id = makeID("table")
        write("<div class=\"scroll\" role=\"region\" aria-labelledby=\"\(id)\" tabindex=\"0\">\n<table>\n")
        write("<caption id=\"\(id)\"><span>\(String(html: table.caption))</span></caption>\n<thead><tr>")
        for column in table.columns {
            write("<th scope=\"col\" class=\"\(column.kind.word)\">\(String(html: column.title))</th>")
        }
        write("</tr></thead>\n<tbody>\n")
        for row in table.withScaledBars.rows {
            write("<tr>")
            for (place, (column, cell)) in zip(table.columns, row).enumerated() {
                write(cell, column, isHead: place == 0)
            }
            write("</tr>\n")
        }
        write("</tbody>\n</table>\n</div>\n")
        if table.omitted > 0 {
            let omitted = Wording.count(Int64(table.omitted), "more row is not shown", "more rows are not shown")
            write("<p class=\"note\">\(omitted).</p>\n")
        }
    }

    private mutating func write(_ cell: Table.Cell, _ column: Table.Column, isHead: Bool) {
        let kind = column.kind
        let tone = cell.tone == .plain ? "" : " \(cell.tone.rawValue)"
        write("<\(isHead ? "th scope=\"row\"" : "td") class=\"\(kind.word)\(column.isProse ? " prose" : "")\(tone)\">")
        let (word, icon) =
            switch cell.tone {
            case .alarm: ("<span class=\"unseen\">Alarm: </span>", HTMLDocument.alarmIcon)
            case .good: ("<span class=\"unseen\">Good: </span>", HTMLDocument.goodIcon)
            case .plain, .note: ("", "")
            }
        // A name written from right to left must not reorder its neighbours.
        if let link = cell.link { write("<a href=\"\(String(html: link))\">") }
        write("\(word)<bdi>\(icon)\(String(html: cell.text))</bdi>")
        if cell.link != nil { write("</a>") }
        if !cell.spark.isEmpty { write(Sparkline(cell.spark).markup) }
        if kind == .bar { writeBar(cell) }
        write(isHead ? "</th>" : "</td>")
    }

    /// The figure beside the bar says the same, so screen readers skip the bar. Without a share, its place stays empty.
    /// A line over the end of the bar is the interval of the rate.
    private mutating func writeBar(_ cell: Table.Cell) {
        write("<svg class=\"gauge\" aria-hidden=\"true\">")
        if let share = cell.share {
            write("<rect class=\"track\" width=\"100%\" height=\"100%\" rx=\"2\"/>")
            write("<rect class=\"fill\" width=\"\(Percent(share))\" height=\"100%\" rx=\"2\"/>")
        }
        if let interval = cell.interval, cell.share != nil {
            write(
                "<line class=\"reach\" x1=\"\(Percent(interval.lowerBound))\" x2=\"\(Percent(interval.upperBound))\" ")
            write("y1=\"50%\" y2=\"50%\"/>")
        }
        write("</svg>")
    }
}

extension Table.Column.Kind {
    fileprivate var word: String {
        switch self {
        case .name: "name"
        case .number: "number"
        case .bar: "bar"
        }
    }
}

/// A share as a length in SVG, between 0 and 100 % and without an exponent.
struct Percent: CustomStringConvertible {
    let tenths: Int

    init(_ share: Double) {
        tenths = share.isFinite ? Int((min(max(share, 0), 1) * 1000).rounded()) : 0
    }

    var description: String { "\(tenths / 10).\(tenths % 10)%" }
}

/// A line without axes, from 0 to the largest value. The figures behind it are told elsewhere, so screen readers skip
/// it.
private struct Sparkline {
    let markup: String

    init(_ values: [Double?]) {
        let most = max(values.compactMap(\.self).max() ?? 0, .leastNormalMagnitude)
        let step = values.count > 1 ? 100 / Double(values.count - 1) : 0
        var path = ""
        var isDrawing = false
        for (place, value) in values.enumerated() {
            guard let value else {
                isDrawing = false
                continue
            }
            path +=
                "\(isDrawing ? "L" : "M")\(Int(Double(place) * step)) "
                + "\(Int(saturating: (19 - 18 * min(max(value / most, 0), 1)).rounded()))"
            if !isDrawing { path += "h0" }
            isDrawing = true
        }
        markup =
            "<svg class=\"spark\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            + "<path d=\"\(path)\"/></svg>"
    }
}
