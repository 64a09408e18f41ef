import Testing

@testable import Reports

@Suite("A page as HTML") struct HTMLDocumentTests {
    @Test(
        "whatever is read stands out from whatever it stands on, in both themes",
        arguments: [HTMLPalette.light, HTMLPalette.dark])
    func contrast(palette: HTMLPalette) {
        let grounds = [palette.page, palette.surface]
        let pairs =
            [palette.ink, palette.muted, palette.link, palette.alarm, palette.good].flatMap { text in
                grounds.map { (text, $0) }
            } + [
                (palette.ink, palette.slope), (palette.muted, palette.slope), (palette.ink, palette.alarmSurface),
                (palette.alarm, palette.alarmSurface), (palette.ink, palette.goodSurface),
                (palette.good, palette.goodSurface),
            ]
        for (text, ground) in pairs {
            let contrast = Color(text).contrast(with: Color(ground))
            #expect(contrast >= 4.5, "\(text) on \(ground): \(contrast)")
        }
        // Bars are figures' company, not their only place; what is drawn needs less than what is read.
        for ground in grounds + [palette.track] {
            #expect(Color(palette.bar).contrast(with: Color(ground)) >= 3)
        }
    }

    @Test("contrast is computed as WCAG defines it") func contrastItself() {
        #expect(abs(Color("#000000").contrast(with: Color("#ffffff")) - 21) < 0.001)
        #expect(abs(Color("#777777").contrast(with: Color("#ffffff")) - 4.478) < 0.001)
    }

    @Test("text stays text, also where a mark combines with markup characters") func escaping() {
        #expect(String(html: "<a href='x'>\"&") == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;")
        #expect(String(html: "<\u{301}b\"\u{301}") == "&lt;\u{301}b&quot;\u{301}")
        #expect(String(html: "a\u{202E}b\u{0}\n\u{FFFF}") == #"a\u{202E}b\0\n\u{FFFF}"#)
        #expect(String(html: "עברית 🛒 ไทย") == "עברית 🛒 ไทย")
    }

    @Test(
        "a bar is never longer than its track",
        arguments: [
            (0.372, "37.2%"), (0, "0.0%"), (1, "100.0%"), (1.5, "100.0%"), (-0.2, "0.0%"), (Double.nan, "0.0%"),
            (Double.infinity, "0.0%"), (0.0004, "0.0%"), (1e-9, "0.0%"),
        ]) func bars(share: Double, length: String)
    {
        #expect(Percent(share).description == length)
    }

    @Test("a page with all kinds of blocks is drawn completely") func blocks() {
        let table = Table(
            "<caption>", columns: [.name("Name"), .bar("Share")],
            rows: [[.init("a", tone: .alarm), .init("–", share: nil)], [.init("b"), .init("5 %", share: 0.05)]],
            omitted: 4)
        let page = Page(
            title: "T & U", subtitle: "<i>",
            sections: [
                .init(
                    "One",
                    [
                        .sentence("plain", .plain), .sentence("good", .good), .sentence("bad", .alarm),
                        .sentence("small", .note), .figures([Figure("<n>", "5", detail: "'d'"), Figure("m", "6")]),
                        .table(table),
                        .ladder(
                            Ladder(
                                "way",
                                steps: [.init("All", value: 1_200, share: 1), .init("Few", value: 7, share: 0.0058)],
                                table: table)),
                    ]), .init("Two", []),
            ])
        let text = HTMLDocument(page).text
        for part in [
            "<title>T &amp; U</title>", "<p>&lt;i&gt;</p>", "<dt>&lt;n&gt;</dt><dd class=\"value\">5</dd>",
            "<dd class=\"detail\">&#39;d&#39;</dd></div>", "<dd class=\"value\">6</dd></div>",
            "<caption id=\"table-1\"><span>&lt;caption&gt;</span></caption>", "4 more rows are not shown.",
            "<title id=\"ladder-2\">way</title>", "All: 1,200, 100.0 %; Few: 7, 0.6 %</desc>",
            "<path class=\"slope\" d=\"M0 0H1000L6 1H0Z\"/>", "width=\"0.6%\"", "<a href=\"#section-2\">Two</a>",
        ] { #expect(text.contains(part), "it has no \(part)") }
        #expect(text.hasSuffix("</html>\n"))
        #expect(text.components(of: "<rect class=\"track\"") == 2, "a cell without a share has no bar")
    }

    @Test("a ladder without steps has its table, and no picture") func noSteps() {
        let ladder = Ladder("none", steps: [], table: Table("t", columns: [.name("n")], rows: []))
        let text = HTMLDocument(Page(title: "t", subtitle: "", sections: [.init("s", [.ladder(ladder)])])).text
        #expect(!text.contains("class=\"picture\""))
        #expect(text.contains("<table>"))
        #expect(!text.contains("<nav"))
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
