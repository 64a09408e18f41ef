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
        for row in table.rows {
            write("<tr>")
            for (place, (column, cell)) in zip(table.columns, row).enumerated() {
                write(cell, column.kind, isHead: place == 0)
            }
            write("</tr>\n")
        }
        write("</tbody>\n</table>\n</div>\n")
        if table.omitted > 0 {
            let omitted = Wording.count(Int64(table.omitted), "more row is not shown", "more rows are not shown")
            write("<p class=\"note\">\(omitted).</p>\n")
        }
    }

    private mutating func write(_ cell: Table.Cell, _ kind: Table.Column.Kind, isHead: Bool) {
        let tone = cell.tone == .plain ? "" : " \(cell.tone.rawValue)"
        write("<\(isHead ? "th scope=\"row\"" : "td") class=\"\(kind.word)\(tone)\">")
        let (word, icon) =
            switch cell.tone {
            case .alarm: ("<span class=\"unseen\">Alarm: </span>", HTMLDocument.alarmIcon)
            case .good: ("<span class=\"unseen\">Good: </span>", HTMLDocument.goodIcon)
            case .plain, .note: ("", "")
            }
        // A name written from right to left must not reorder its neighbours.
        write("\(word)<bdi>\(icon)\(String(html: cell.text))</bdi>")
        if kind == .bar { writeBar(cell.share) }
        write(isHead ? "</th>" : "</td>")
    }

    /// The figure beside the bar says the same, so screen readers skip the bar. Without a share, its place stays empty.
    private mutating func writeBar(_ share: Double?) {
        write("<svg class=\"gauge\" aria-hidden=\"true\">")
        if let share {
            write("<rect class=\"track\" width=\"100%\" height=\"100%\" rx=\"2\"/>")
            write("<rect class=\"fill\" width=\"\(Percent(share))\" height=\"100%\" rx=\"2\"/>")
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
