internal import ServiceRuntime

/// A page as one HTML file that fetches nothing and runs no scripts.
package struct HTMLDocument {
    package private(set) var text = ""
    private var titles: [String] = []
    /// For the ids that other elements refer to.
    private var lastID = 0

    /// Nothing yet: for another page of the same parts.
    package init() {}

    init(_ page: Page) {
        titles = page.sections.map(\.title)
        let title = String(html: page.title)
        text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(HTMLDocument.policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
            <title>\(title)</title>
            <style>
            \(HTMLStyle.sheet)
            </style>
            </head>
            <body>
            <a class="skip" href="#report">Skip to the report</a>
            <header>
            <h1><bdi>\(title)</bdi></h1>
            <p>\(String(html: page.subtitle))</p>
            </header>

            """
        // Where the report is divided, its contents stand at the divide, and not between the title and what to do.
        if page.leading == nil, page.sections.count > 1 { contents(of: page) }
        text += "<main id=\"report\">\n"
        for (index, section) in page.sections.enumerated() {
            if index == page.leading { divide(page) }
            write(section, index)
        }
        text += "</main>\n</body>\n</html>\n"
    }

    /// If a name from outside ever became markup, it still could not run or fetch anything.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    package mutating func write(_ markup: String) { text += markup }

    /// A unique id.
    package mutating func makeID(_ start: String) -> String {
        lastID += 1
        return "\(start)-\(lastID)"
    }

    private mutating func divide(_ page: Page) {
        text += "<section class=\"divide\" aria-labelledby=\"details\">\n<h2 id=\"details\">\(Page.divide)</h2>\n"
        text += "<p>\(String(html: page.divideWords))</p>\n"
        contents(of: page)
        text += "</section>\n"
    }

    private mutating func contents(of page: Page) {
        text += "<nav aria-label=\"Sections\">\n<ul>\n"
        for (index, section) in page.sections.enumerated().dropFirst(page.leading ?? 0) {
            let mark = section.hasAlarm ? HTMLDocument.alarmIcon + "<span class=\"unseen\">Alarm in: </span>" : ""
            text += "<li\(section.hasAlarm ? " class=\"alarm\"" : "")><a href=\"#section-\(index + 1)\">"
            text += "\(mark)\(String(html: section.title))</a></li>\n"
        }
        text += "</ul>\n</nav>\n"
    }

    private mutating func write(_ section: Page.Section, _ index: Int) {
        let id = "section-\(index + 1)"
        text += "<section id=\"\(id)\" aria-labelledby=\"\(id)-title\">\n"
        text += "<h2 id=\"\(id)-title\">\(String(html: section.title))</h2>\n"
        for block in section.blocks { write(block) }
        text += "</section>\n"
    }

    package mutating func write(_ block: Block) {
        switch block {
        case .sentence(let words, let tone): write(words, tone)
        case .pointer(let words, let section): write(words, pointingTo: section)
        case .figures(let figures): write(figures)
        case .table(let table): write(table)
        case .ladder(let ladder): write(ladder)
        case .trend(let trend): write(trend)
        }
    }

    private mutating func write(_ words: String, _ tone: Tone) {
        let words = String(htmlProse: words)
        switch tone {
        case .plain: text += "<p>\(words)</p>\n"
        case .note: text += "<p class=\"note\">\(words)</p>\n"
        case .good:
            text += "<p class=\"good\"><strong class=\"mark\">\(HTMLDocument.goodIcon)Good:</strong> \(words)</p>\n"
        case .alarm:
            text += "<p class=\"alarm\"><strong class=\"mark\">\(HTMLDocument.alarmIcon)Alarm:</strong> \(words)</p>\n"
        }
    }

    private mutating func write(_ words: String, pointingTo section: String) {
        let title = String(html: section)
        let link = titles.firstIndex(of: section).map { "<a href=\"#section-\($0 + 1)\">\(title)</a>" } ?? title
        text += "<p>\(String(htmlProse: words)) (see \(link)).</p>\n"
    }

    private mutating func write(_ figures: [Figure]) {
        text += "<dl class=\"figures\">\n"
        for figure in figures {
            text += "<div><dt>\(String(html: figure.name))</dt>"
            text += "<dd class=\"value\">\(String(htmlProse: figure.value))</dd>"
            if !figure.detail.isEmpty { text += "<dd class=\"detail\">\(String(htmlProse: figure.detail))</dd>" }
            text += "</div>\n"
        }
        text += "</dl>\n"
    }

    /// An icon with a shape of its own, so an alarm does not depend on colour alone.
    package static let alarmIcon = """
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path fill-rule="evenodd" \
        d="M8 1 16 15H0ZM7.2 6v5h1.6V6ZM7.2 12.1v1.5h1.6v-1.5Z"/></svg>
        """
    package static let goodIcon = """
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M6 14 0 8l2-2 4 4 8-8 2 2Z"/></svg>
        """
}

extension String {
    /// Appends escaped text, for elements and quoted attributes. Control and direction-changing characters are shown,
    /// not obeyed.
    package mutating func appendHTML(_ text: String) {
        // Scalar by scalar: a combining mark makes another Character of a bracket, but a browser still sees the
        // bracket.
        for scalar in String(printable: text).unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "\"": append("&quot;")
            case "'": append("&#39;")
            case _ where scalar.properties.isNoncharacterCodePoint: append(scalar.escaped(asASCII: true))
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// Escaped text.
    package init(html text: String) {
        self = ""
        appendHTML(text)
    }

    /// Escaped words of ours, in which a percent sign stays with its number.
    init(htmlProse text: String) {
        self.init(html: text.replacing(" %", with: "\u{a0}%"))
    }
}
