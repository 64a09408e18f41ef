internal import Reports
internal import ServiceRuntime
internal import Values

/// A page as HTML, made of the parts that reports are made of.
struct LookDocument {
    private var document = HTMLDocument()
    /// Explains each term where the page has it first.
    private var glossary = Glossary()

    var text: String { document.text }

    /// `isSignedIn` offers to sign out.
    init(_ sight: Sight, isSignedIn: Bool = false) {
        begin(title: sight.title, refreshes: sight.refreshes)
        header(sight, isSignedIn)
        document.write("<main id=\"page\">\n")
        document.write("<h1><bdi>\(String(html: sight.title))</bdi></h1>\n<p>\(String(html: sight.lead))</p>\n")
        if let scope = sight.scope {
            days(sight.state, scope)
            document.write("<p class=\"note\">\(String(html: scope.settledness))</p>\n")
        }
        for (place, part) in sight.parts.enumerated() { write(part, place, sight.state) }
        document.write("</main>\n</body>\n</html>\n")
    }

    /// A page that says one thing, such as why there is no other. If it `refreshes`, the browser asks for the same
    /// address again.
    init(notice title: String, _ words: [String], link: Sight.Link? = nil, refreshes: Int? = nil) {
        begin(title: title, refreshes: refreshes, always: true)
        document.write(
            "<header class=\"top\"><a class=\"home\" href=\"/\">Bellwether</a></header>\n<main id=\"page\">\n")
        document.write("<h1>\(String(html: title))</h1>\n")
        for sentence in words { document.write("<p>\(String(html: sentence))</p>\n") }
        if let link {
            document.write("<p><a href=\"\(String(html: link.address))\">\(String(html: link.text))</a></p>\n")
        }
        document.write("</main>\n</body>\n</html>\n")
    }

    /// The form for a key. `fault` says why the last try failed.
    init(signInFor next: String, fault: String?) {
        begin(title: "Sign in", refreshes: nil)
        document.write(
            "<header class=\"top\"><span class=\"home\">Bellwether</span></header>\n<main "
                + "id=\"page\">\n<h1>Sign in</h1>\n"
        )
        document.write(
            "<p>Enter your reader key. Whoever runs Bellwether here makes one "
                + "with <code>bellwether look key add NAME</code>.</p>\n"
        )
        if let fault { document.write(.sentence(fault, .alarm)) }
        document.write("<form class=\"signin\" method=\"post\" action=\"/sign-in\">\n")
        document.write("<input type=\"hidden\" name=\"next\" value=\"\(String(html: next))\">\n")
        document.write("<label>Reader key <input type=\"password\" name=\"key\" required maxlength=\"128\" ")
        document.write("autocomplete=\"current-password\" autofocus></label>\n<button>Sign in</button>\n</form>\n")
        document.write("</main>\n</body>\n</html>\n")
    }

    private mutating func begin(title: String, refreshes: Int?, always: Bool = false) {
        document.write(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
            <title>\(String(html: title)) · Bellwether</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="\(LookStyle.address)">
            <script src="\(LookScript.address)" defer></script>

            """)
        if let refreshes {
            let refresh = "<meta http-equiv=\"refresh\" content=\"\(refreshes)\">"
            document.write(always ? refresh + "\n" : "<noscript>\(refresh)</noscript>\n")
        }
        document.write("</head>\n<body>\n<a class=\"skip\" href=\"#page\">Skip to the page</a>\n")
    }

    // MARK: Above the page

    private mutating func header(_ sight: Sight, _ isSignedIn: Bool) {
        let home = String(html: sight.state.turned(to: .overview).address)
        document.write("<header class=\"top\">\n<a class=\"home\" href=\"\(home)\">Bellwether</a>\n")
        if let app = sight.state.app {
            document.write("<span class=\"app\"><bdi>\(String(html: app))</bdi></span>\n")
        }
        if isSignedIn {
            document.write("<form class=\"out\" method=\"post\" action=\"\(Session.endPath)\">")
            document.write("<button>Sign out</button></form>\n")
        }
        document.write("</header>\n")
        guard sight.state.app != nil else { return }
        let tabs: [(PageState.Page, String)] = [
            (.app, "Summary"), (.category, "Categories"), (.campaign, "Campaigns"), (.story, "Stories"),
            (.goal, "Goals"), (.experiment, "Experiments"), (.versions, "Versions"), (.installs, "Installs"),
            (.live, "Live"),
            (.quality, "Data quality"), (.reports, "Reports"),
        ]
        document.write("<nav aria-label=\"Pages\">\n<ul>\n")
        for (page, title) in tabs {
            let isHere = page == sight.state.page && sight.state.filters.isEmpty
            // A page below one of these: a category, or one campaign.
            let isAbove =
                page == sight.state.page || (page == .app && sight.state.page == .deliveries)
                || (page == .installs && sight.state.page == .install)
            let address = sight.state.turned(to: page).address
            let current = isHere ? " aria-current=\"page\"" : isAbove ? " aria-current=\"true\"" : ""
            document.write("<li><a href=\"\(String(html: address))\"\(current)>\(title)</a></li>\n")
        }
        document.write("</ul>\n</nav>\n")
    }

    /// Chooses the days. The rest of the address travels along.
    private mutating func days(_ state: PageState, _ scope: Scope) {
        document.write("<form class=\"days\" method=\"get\" aria-label=\"Days\">\n")
        hidden(state.fields.filter { !["from", "to", "with", "after", "position"].contains($0.name) })
        document.write(
            "<label>From <input type=\"date\" name=\"from\" value=\"\(scope.days.first)\" required></label>\n")
        document.write("<label>To <input type=\"date\" name=\"to\" value=\"\(scope.days.last)\" required></label>\n")
        if scope.compares {
            document.write("<label>Compared with <input name=\"with\" value=\"\(scope.compared.inAddress)\" ")
            document.write("pattern=\"\\d{4}-\\d\\d-\\d\\d\\.\\.\\d{4}-\\d\\d-\\d\\d\" size=\"22\"></label>\n")
        }
        document.write("<button>Show</button>\n</form>\n")
        let presets = [(1, "1 day"), (7, "7 days"), (28, "28 days"), (84, "12 weeks")]
        write(
            presets.map { count, title in
                let range = DayRange(count, upTo: scope.lastUsualDay)
                return Sight.Link(text: title, address: state.over(range).address, isCurrent: range == scope.days)
            } + upToToday(state, scope))
        exactly(state, scope)
    }

    /// Where the same days are shown tomorrow, too. A script offers to copy it.
    private mutating func exactly(_ state: PageState, _ scope: Scope) {
        var exactly = state
        exactly.days = scope.days
        document.write(
            "<p class=\"exactly\"><a href=\"\(String(html: exactly.address))\">Link to exactly these days</a></p>\n")
    }

    /// What a form carries along.
    private mutating func hidden(_ fields: [(name: String, value: String)]) {
        for field in fields {
            document.write("<input type=\"hidden\" name=\"\(field.name)\" value=\"\(String(html: field.value))\">\n")
        }
    }

    /// Where the usual days end earlier, those that still change are one step away.
    private func upToToday(_ state: PageState, _ scope: Scope) -> [Sight.Link] {
        guard scope.lastUsualDay < scope.today else { return [] }
        let range = DayRange(Scope.usual, upTo: scope.today)
        return [Sight.Link(text: "Up to today", address: state.over(range).address, isCurrent: range == scope.days)]
    }

    // MARK: The page

    private mutating func write(_ part: Sight.Part, _ place: Int, _ state: PageState) {
        document.write(
            "<section aria-labelledby=\"part-\(place)\">\n<h2 id=\"part-\(place)\">\(String(html: part.title))</h2>\n")
        for piece in part.pieces {
            switch piece {
            case .block(let block): document.write(block)
            case .trends(let charts): document.write(charts)
            case .sideBySide(let ladders):
                document.write("<div class=\"beside-each-other\">\n")
                for ladder in ladders { document.write(.ladder(ladder)) }
                document.write("</div>\n")
            case .answer(let answer): write(answer, state, hasTable: true)
            case .source(let answer): write(answer, state, hasTable: false)
            case .links(let links): write(links)
            case .checks(let checks): write(checks)
            case .live(let list): write(list, state)
            case .finder(let finder): write(finder)
            case .search(let search): write(search)
            case .choice(let choice): write(choice)
            }
        }
        if let meaning = glossary.explain(part.pieces.flatMap(\.titles)) { document.write(.sentence(meaning, .note)) }
        document.write("</section>\n")
    }

    /// A table, or only the way to one, and where it comes from.
    private mutating func write(_ answer: Answer, _ state: PageState, hasTable: Bool) {
        let listing = answer.listing
        if hasTable {
            let table = answer.table
            if answer.grid.rows.isEmpty {
                document.write("<p class=\"note\">\(String(html: listing.none))</p>\n")
            } else {
                document.write(.table(table))
            }
            if table.isBeyondWhole { document.write(.sentence(Wording.beyondWhole, .note)) }
            if answer.isCut {
                document.write(
                    .sentence(
                        "The first \(Wording.count(Int64(listing.most))) rows. The file has up to "
                            + "\(Wording.count(Int64(Listing.mostInFile))).", .note))
            }
        }
        document.write("<div class=\"source\">\n")
        if !hasTable { document.write("<span>\(String(html: listing.caption)):</span>\n") }
        if !hasTable, !answer.grid.rows.isEmpty {
            document.write("<details><summary>In figures</summary>\n")
            document.write(.table(answer.table))
            document.write("</details>\n")
        }
        document.write(
            "<details class=\"sql\"><summary>SQL<span class=\"unseen\"> of: "
                + "\(String(html: listing.caption))</span></summary>\n"
        )
        document.write(
            "<pre tabindex=\"0\"><code>\(String(html: listing.shown, keepingLines: true))</code></pre></details>\n")
        for (format, name) in [(PageState.Format.csv, "CSV"), (.json, "JSON")] {
            var file = state
            (file.table, file.format) = (listing.name, format)
            document.write(
                "<a href=\"\(String(html: file.address))\">\(name)<span class=\"unseen\"> of: "
                    + "\(String(html: listing.caption))</span></a>\n"
            )
        }
        document.write("</div>\n")
    }

    private mutating func write(_ links: [Sight.Link]) {
        document.write("<ul class=\"links\">\n")
        for link in links {
            document.write(
                "<li><a href=\"\(String(html: link.address))\"\(link.isCurrent ? " aria-current=\"true\"" : "")>")
            document.write("<bdi>\(String(html: link.text))</bdi></a></li>\n")
        }
        document.write("</ul>\n")
    }

    private mutating func write(_ checks: [Sight.Check]) {
        document.write("<ul class=\"checks\" id=\"checks\">\n")
        for check in checks {
            let (tone, word) =
                switch check.state {
                case .done: ("good", "Done")
                case .wrong: ("alarm", "Wrong")
                case .waiting: ("note", "Waiting")
                }
            let icon =
                switch check.state {
                case .done: HTMLDocument.goodIcon
                case .wrong: HTMLDocument.alarmIcon
                case .waiting: ""
                }
            document.write("<li class=\"\(tone)\"><strong class=\"mark\">\(icon)\(word):</strong> ")
            document.write("<b>\(String(html: check.title))</b> \(String(html: check.words))</li>\n")
        }
        document.write("</ul>\n")
    }

    private mutating func write(_ finder: Sight.Finder) {
        let page = PageState(.install, app: finder.app)
        var kept = page
        (kept.days, kept.range) = (finder.days, finder.range)
        document.write(
            "<form class=\"days\" method=\"get\" action=\"\(String(html: page.address))\" aria-label=\"Find an "
                + "install\">\n"
        )
        hidden(kept.fields)
        for (title, name, value) in [
            ("Install id", "install", finder.install),
            ("FCM message id or delivery_id", "notification", finder.notification),
        ] {
            document.write(
                "<label>\(title) <input name=\"\(name)\" size=\"36\" value=\"\(String(html: value))\"></label>\n")
        }
        document.write("<button>Find</button>\n</form>\n")
    }

    private mutating func write(_ search: Sight.Search) {
        let state = search.state
        var list = state
        (list.search, list.days, list.compared, list.step) = (nil, nil, nil, .day)
        document.write(
            "<form class=\"days\" role=\"search\" method=\"get\" action=\"\(String(html: list.address))\" "
                + "aria-label=\"Find \(search.what)\">\n")
        hidden(state.fields.filter { $0.name != "search" })
        document.write("<label>Find \(search.what) <input type=\"search\" name=\"search\" size=\"28\" ")
        document.write("value=\"\(String(html: state.search ?? ""))\"></label>\n<button>Find</button>\n</form>\n")
    }

    private mutating func write(_ choice: Sight.Choice) {
        let state = choice.state
        document.write("<form class=\"days\" method=\"get\" aria-label=\"\(choice.title)\">\n")
        let chosen = Set(choice.fields.map(\.filter.rawValue))
        hidden(state.fields.filter { !chosen.contains($0.name) && $0.name != "table" })
        for field in choice.fields {
            document.write("<label>\(field.title) <select name=\"\(field.filter.rawValue)\">\n")
            for name in choice.names {
                let isChosen = ExactName(name) == ExactName(field.chosen)
                document.write("<option value=\"\(String(html: name))\"\(isChosen ? " selected" : "")>")
                document.write("\(String(html: Columns.shown(name)))</option>\n")
            }
            document.write("</select></label>\n")
        }
        document.write("<button>\(choice.button)</button>\n</form>\n")
    }

    private mutating func write(_ list: Sight.LiveList, _ state: PageState) {
        var feed = state
        feed.position = list.position
        document.write("<form class=\"days\" method=\"get\" aria-label=\"Install\">\n")
        if let type = state.filters[.type] {
            document.write("<input type=\"hidden\" name=\"type\" value=\"\(String(html: type))\">\n")
        }
        document.write("<label>Only of install <input name=\"install\" size=\"36\" ")
        document.write(
            "value=\"\(String(html: state.filters[.install] ?? ""))\"></label>\n<button>Show</button>\n</form>\n")
        document.write(
            "<p id=\"live-state\" role=\"status\">\(list.lines.isEmpty ? list.none : "The newest events first.")</p>\n"
        )
        document.write("<ol class=\"live\" id=\"live\" reversed tabindex=\"0\" aria-label=\"Events\" ")
        document.write("data-feed=\"\(String(html: feed.feedAddress))\">\n")
        for line in list.lines.reversed() { document.write("<li>\(String(html: line))</li>\n") }
        document.write("</ol>\n")
    }
}

extension String {
    /// Escaped text of ours whose line ends stay.
    fileprivate init(html text: String, keepingLines: Bool) {
        self = text.split(separator: "\n", omittingEmptySubsequences: false).map { String(html: String($0)) }
            .joined(separator: "\n")
    }
}
