internal import ServiceRuntime

/// A page as HTML for mail. Readers of mail remove style sheets (Gmail), know no flexible layout and no rounded corner
/// (Outlook, which draws with Word) and show no SVG (both): so everything is a table with its style on each element,
/// bars are coloured cells, and a trend is a row of block characters.
struct MailDocument {
    let text: String

    /// Gmail cuts a message off after 102 kB. What does not fit is named at the end.
    private static let mostBytes = 98_000
    static let colors = HTMLPalette.light
    // Each cell has its font: in short, because a report has a thousand cells.
    private static let plain = "font:15px/22px Arial,sans-serif;color:\(colors.ink);"
    static let cell = "font:13px/19px Arial,sans-serif;"
    static let small = "\(cell)color:\(colors.muted);"

    init(_ page: Page) {
        var (body, leftOut) = ("", [String]())
        for (index, section) in page.sections.enumerated() {
            var part = index == page.leading ? Self.divide(page) : ""
            part += Self.heading(section.title) + section.blocks.map { Self.markup($0) }.joined()
            // The first sections say what happened and what to do: they are small, and always there. A large one that
            // does not fit leaves room for small ones after it.
            if index == 0 || body.utf8.count + part.utf8.count <= Self.mostBytes {
                body += part
            } else {
                leftOut.append(section.title)
            }
        }
        if !leftOut.isEmpty {
            body += Self.paragraph(
                "Left out, because mail of this size is cut off: \(leftOut.joined(separator: ", ")). The text part of "
                    + "this mail has them, and so do the report's files and pages.", Self.small)
        }
        text = Self.frame(title: page.title, subtitle: page.subtitle, body)
    }

    private static func frame(title: String, subtitle: String, _ body: String) -> String {
        let title = String(html: title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="format-detection" content="telephone=no, date=no, address=no, email=no"/>
            <title>\(title)</title>
            </head>
            <body style="margin:0;padding:0;background-color:\(colors.page);">
            <table \(layout) width="100%" bgcolor="\(colors.page)"><tr><td align="center" style="padding:24px 12px;">
            <table \(layout) width="640" style="width:100%;max-width:640px;"><tr><td align="left">
            <h1 style="font:24px/30px Arial,sans-serif;color:\(colors.ink);margin:0 0 8px 0;">\(title)</h1>
            \(paragraph(subtitle, small))\(body)</td></tr></table>
            </td></tr></table>
            </body>
            </html>

            """
    }

    /// Of a table that only places things.
    static let layout = "role=\"presentation\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\""

    private static func divide(_ page: Page) -> String {
        heading(Page.divide) + paragraph(page.divideWords, small)
    }

    private static func heading(_ title: String) -> String {
        "<h2 style=\"font:bold 19px/25px Arial,sans-serif;color:\(colors.ink);margin:32px 0 10px 0;\">"
            + "\(String(html: title))</h2>\n"
    }

    static func paragraph(_ words: String, _ style: String) -> String {
        words.isEmpty ? "" : "<p style=\"\(style)margin:0 0 10px 0;\">\(String(htmlProse: words))</p>\n"
    }

    private static func markup(_ block: Block) -> String {
        switch block {
        case .sentence(let words, .plain): paragraph(words, plain)
        case .sentence(let words, .note): paragraph(words, small)
        case .sentence(let words, .alarm): marked("Alarm:", words, colors.alarm, colors.alarmSurface)
        case .sentence(let words, .good): marked("Good:", words, colors.good, colors.goodSurface)
        case .pointer(let words, let section): markup(.sentence(words, pointingTo: section))
        case .figures(let figures): markup(figures)
        case .table(let table): markup(table)
        case .ladder(let ladder): markup(ladder)
        case .trend(let trend): markup(trend)
        }
    }

    private static func marked(_ mark: String, _ words: String, _ ink: String, _ surface: String) -> String {
        """
        <table \(layout) width="100%" style="margin:0 0 10px 0;"><tr>
        <td bgcolor="\(surface)" style="\(plain)background-color:\(surface);border-left:4px solid \(ink);padding:10px 14px;">\
        <strong style="color:\(ink);">\(mark)</strong> \(String(htmlProse: words))</td></tr></table>

        """
    }

    private static func markup(_ figures: [Figure]) -> String {
        let rows = figures.map { figure in
            """
            <tr><td valign="top" style="\(small)padding:8px 12px 8px 0;border-bottom:1px solid \(colors.line);">\
            \(String(html: figure.name))</td><td valign="top" style="\(small)padding:8px 0;border-bottom:1px solid \
            \(colors.line);"><strong style="font:bold 21px/26px Arial,sans-serif;color:\(colors.ink);">\
            \(String(htmlProse: figure.value))</strong>\(figure.detail.isEmpty ? "" : "<br/>\(String(htmlProse: figure.detail))")\
            </td></tr>

            """
        }
        return "<table \(layout) width=\"100%\" style=\"margin:0 0 14px 0;\">\n\(rows.joined())</table>\n"
    }
}
