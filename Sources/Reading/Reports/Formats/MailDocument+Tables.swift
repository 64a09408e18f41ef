internal import ServiceRuntime

extension MailDocument {
    static func markup(_ table: Table) -> String {
        let head = table.columns.map { column in
            "<th scope=\"col\" \(place(column)) style=\"\(small)\(edges)\"><strong>\(String(html: column.title))</strong></th>"
        }
        let rows = table.withScaledBars.rows.map { row in
            let cells = zip(table.columns, row).map { column, cell in
                """
                <td \(place(column)) style="\(small)color:\(ink(of: cell));\(edges)">\(mark(of: cell))\
                \(String(html: cell.text))\(column.kind == .bar ? bar(cell.share, width: 64) : "")</td>
                """
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        let omitted =
            table.omitted > 0
            ? Wording.count(Int64(table.omitted), "more row is not shown.", "more rows are not shown.") : ""
        return paragraph(table.caption, small) + framed("<tr>\(head.joined())</tr>\n" + rows.joined())
            + paragraph(omitted, small)
    }

    /// Its steps. What stands behind the picture in the report is in the text part of the mail.
    static func markup(_ ladder: Ladder) -> String {
        guard !ladder.steps.isEmpty else { return markup(ladder.table) }
        let rows = ladder.steps.map { step in
            """
            <tr><td align="left" style="\(small)color:\(colors.ink);\(edges)">\(String(html: step.label))</td>\
            <td align="right" style="\(small)\(edges)">\(Wording.count(step.value))</td>\
            <td align="right" style="\(small)\(edges)">\(String(htmlProse: Wording.percent(step.share)))</td>\
            <td align="left" width="170" style="\(edges)">\(bar(step.share, width: 160))</td></tr>

            """
        }
        return paragraph(ladder.caption, small) + framed(rows.joined())
    }

    /// A row of block characters instead of each picture, with the last figure and the range.
    static func markup(_ trend: Trend) -> String {
        let rows = trend.charts.map { chart in
            """
            <tr><td align="left" style="\(small)color:\(colors.ink);\(edges)">\(String(html: chart.title))</td>\
            <td align="left" style="font-family:monospace;font-size:14px;line-height:19px;color:\(colors.bar);\(edges)">\
            \(String(html: chart.sparkline))</td>\
            <td align="right" style="\(small)color:\(colors.ink);\(edges)">\(String(html: chart.latest))</td>\
            <td align="left" style="\(small)\(edges)">\(String(html: chart.range))</td></tr>

            """
        }
        return paragraph(trend.caption, small) + framed(rows.joined())
    }

    private static func framed(_ rows: String) -> String {
        "<table cellpadding=\"0\" cellspacing=\"0\" border=\"0\" width=\"100%\" style=\"margin:0 0 14px 0;\">\n\(rows)</table>\n"
    }

    private static let edges = "padding:6px 10px 6px 0;border-bottom:1px solid \(colors.line);"

    private static func place(_ column: Table.Column) -> String {
        "align=\"\(column.kind == .name ? "left" : "right")\" valign=\"top\""
    }

    private static func ink(of cell: Table.Cell) -> String {
        switch cell.tone {
        case .alarm: colors.alarm
        case .good: colors.good
        case .note: colors.muted
        case .plain: colors.ink
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
            <td width="\(width)" height="6" bgcolor="\(color)" style="background-color:\(color);width:\(width)px;height:6px;\
            font-size:1px;line-height:6px;">\u{a0}</td>
            """
        }
        return "<table \(layout) width=\"\(width)\" align=\"right\"><tr>\(cells.joined())</tr></table>"
    }
}
