internal import ServiceRuntime

extension MailDocument {
    /// The most rows of a table: a mail is read on the way, and cut off where it is long.
    private static let mostRows = 8

    static func markup(_ table: Table) -> String {
        let head = table.columns.map { column in
            "<th scope=\"col\"\(column.kind == .name ? " align=\"left\"" : place(column)) "
                + "style=\"\(small)\(edge)\"><strong>\(String(html: column.title))</strong></th>"
        }
        let rows = table.withScaledBars.rows.prefix(Self.mostRows).map { row in
            let cells = zip(table.columns, row).map { column, entry in
                """
                <td\(place(column)) style="\(cell)\(ink(of: entry))\(edge)">\(mark(of: entry))\
                \(String(html: entry.text))\(column.kind == .bar ? bar(entry.share, width: 64) : "")</td>
                """
            }
            return "<tr valign=\"top\">\(cells.joined())</tr>\n"
        }
        let left = table.omitted + max(0, table.rows.count - Self.mostRows)
        let omitted =
            left > 0 ? Wording.count(Int64(left), "more row is not shown.", "more rows are not shown.") : ""
        return paragraph(table.caption, small) + framed("<tr>\(head.joined())</tr>\n" + rows.joined())
            + paragraph(omitted, small)
    }

    /// Its steps. What stands behind the picture in the report is in the text part of the mail.
    static func markup(_ ladder: Ladder) -> String {
        guard !ladder.steps.isEmpty else { return markup(ladder.table) }
        let rows = ladder.steps.map { step in
            """
            <tr><td align="left" style="\(cell)color:\(colors.ink);\(edge)">\(String(html: step.label))</td>\
            <td align="right" style="\(small)\(edge)">\(Wording.count(step.value))</td>\
            <td align="right" style="\(small)\(edge)">\(String(htmlProse: Wording.percent(step.share)))</td>\
            <td align="left" width="170" style="\(edge)">\(bar(step.share, width: 160))</td></tr>

            """
        }
        return paragraph(ladder.caption, small) + framed(rows.joined())
    }

    /// A row of block characters instead of each picture, with the last figure and the range.
    static func markup(_ trend: Trend) -> String {
        let rows = trend.charts.map { chart in
            """
            <tr><td align="left" style="\(cell)color:\(colors.ink);\(edge)">\(String(html: chart.title))</td>\
            <td align="left" style="font:14px/19px monospace;color:\(colors.bar);\(edge)">\
            \(String(html: chart.sparkline))</td>\
            <td align="right" style="\(cell)color:\(colors.ink);\(edge)">\(String(html: chart.latest))</td>\
            <td align="left" style="\(small)\(edge)">\(String(html: chart.range))</td></tr>

            """
        }
        return paragraph(trend.caption, small) + framed(rows.joined())
    }

    private static func framed(_ rows: String) -> String {
        "<table cellpadding=\"6\" cellspacing=\"0\" border=\"0\" width=\"100%\" style=\"margin:0 0 14px "
            + "0;\">\n\(rows)</table>\n"
    }

    private static let edge = "border-bottom:1px solid \(colors.line)"

    private static func place(_ column: Table.Column) -> String {
        column.kind == .name ? "" : " align=\"right\""
    }

    /// Plain text is black everywhere.
    private static func ink(of cell: Table.Cell) -> String {
        switch cell.tone {
        case .alarm: "color:\(colors.alarm);"
        case .good: "color:\(colors.good);"
        case .note: "color:\(colors.muted);"
        case .plain: ""
        }
    }

    /// An alarm does not depend on colour alone.
    private static func mark(of cell: Table.Cell) -> String {
        switch cell.tone {
        case .alarm: "<strong>!</strong> "
        case .good: "<strong>+</strong> "
        case .plain, .note: ""
        }
    }

    /// Two coloured cells: the share and what is missing of the whole.
    private static func bar(_ share: Double?, width: Int) -> String {
        guard let share, share.isFinite else { return "" }
        let filled = Int(saturating: (Double(width) * min(max(share, 0), 1)).rounded())
        let cells = [(filled, colors.bar), (width - filled, colors.track)].filter { $0.0 > 0 }.map { width, color in
            """
            <td width="\(width)" height="6" bgcolor="\(color)" style="\
            font:1px/6px Arial;">\u{a0}</td>
            """
        }
        return "<table \(layout) width=\"\(width)\" align=\"right\"><tr>\(cells.joined())</tr></table>"
    }
}
