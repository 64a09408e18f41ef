import ServiceRuntime
import Testing

@testable import Reports

@Suite("A page in Markdown")
struct MarkdownDocumentTests {
    @Test("its source is readable too") func small() {
        #expect(
            MarkdownDocument(SmallPage.page).text == """
                # shop · Friday 20 November 2026

                Made at night from position 42.

                ## The day

                - Deliveries: **48,210** · +4.8 % on the day before, +12.3 % on the usual Friday
                - Response rate: **11.6 %** · 5,123 of 44,012 received
                - Pushes an install: **2**

                ✅ Response is higher than the day before.

                ⚠️ **Receipts of ios 4.3.0 fell to 55.8 % from 98.3 % of its platform, lower by more than chance makes.**

                _\\* p < .01 is more than chance._

                ## Categories

                **All categories**

                | Category                    | Delivered |          Rate |            |           |
                | --------------------------- | --------: | ------------: | ---------- | --------- |
                | `INFO_CATEGORY`             |    21,044 |        11.4 % | ██▎        | first     |
                | \u{2066}שלום\u{2069}                        |     4,002 |        50.0 % | ██████████ |           |
                | ⚠️ **日本語**                |       902 | ⚠️ **< 0.1 %** | ▏          | _it fell_ |
                | <code>a&#124;b</code> `*c*` |         0 |             – |            |           |

                _… and 7 more_

                **`INFO_CATEGORY`**

                | Step      |                      |  Count |   Share |
                | --------- | -------------------- | -----: | ------: |
                | Delivered | ████████████████████ | 21,044 | 100.0 % |
                | Responded | ██▎                  |  2,400 |  11.4 % |
                | Nobody    |                      |      0 |     0 % |

                | Page | Median time to tap |
                | ---- | -----------------: |
                | 1    |         22 min 2 s |

                """)
    }

    @Test("tables of any shape stay whole and show what the page says", arguments: 0..<40 as Range<UInt64>)
    func anyShape(seed: UInt64) throws {
        let random = RandomPage(seed: seed)
        let text = MarkdownDocument(random.page).text
        let expected = random.page.sections.flatMap(\.blocks).flatMap(\.markdownRows)
        let drawn = MarkdownReader.tables(text).map { $0.dropFirst().map { $0.map(\.literal) } }
        try #require(drawn.count == expected.count)
        for (rows, wanted) in zip(drawn, expected) { #expect(Array(rows) == wanted) }
        for table in MarkdownReader.tables(text) {
            #expect(Set(table.map(\.count)).count == 1)
        }
        let obeyed = text.unicodeScalars.filter { scalar in
            let category = scalar.properties.generalCategory
            return category == .control && scalar != "\n"
                || category == .format && !["\u{2066}", "\u{2069}"].contains(scalar)
        }
        #expect(obeyed.isEmpty)
    }

    @Test("every name is shown as it is", arguments: RandomPage.names) func literal(name: String) {
        let page = Page(
            title: "t", subtitle: "", sections: [.init("s", [.sentence("The name \(name) is one.", .plain)])])
        let line = MarkdownDocument(page).text.split(separator: "\n").last ?? ""
        #expect(MarkdownReader.runs(String(line)).literal == "The name \(String(printable: name)) is one.")
    }

    @Test("nobody is mentioned, and nothing is linked or numbered", arguments: RandomPage.names) func quiet(
        name: String
    ) {
        let page = Page(
            title: name, subtitle: name,
            sections: [.init(name, [.table(Table(name, columns: [.name(name)], rows: [[.init(name)]]))])])
        let outside = MarkdownDocument(page).text.split(separator: "\n").flatMap { MarkdownReader.runs(String($0)) }
            .filter { !$0.isCode }.map(\.text)
        for text in outside {
            #expect(text.firstMatch(of: #/[@`<]|\w#|#\w|:\/\/|www\.|\w\.[a-z]|:\w+:|\$|~~|\[|&\w/#) == nil)
        }
    }

    @Test("a word without a special meaning is left as it is")
    func plain() {
        let text =
            "Rate of ios 4.2.0 at 09:30 (p < .001): −1.5 points, 12.4 %; it's \"fine\" and/or good? Yes! – naïve · 日本語"
        let page = Page(title: "t", subtitle: text, sections: [])
        #expect(MarkdownDocument(page).text == "# t\n\n\(text)\n")
    }

    @Test(
        "what begins a list or a rule begins a paragraph",
        arguments: [
            ("* p", "\\* p"), ("- a", "\\- a"), ("1. a", "1\\. a"), ("12) a", "12\\) a"), ("> a", "\\> a"),
            ("--- a", "`---` a"), ("+ a", "\\+ a"), ("    code", "code"), ("a - b * c", "a - b * c"),
        ]) func beginning(text: String, markdown: String)
    {
        #expect(MarkdownDocument(Page(title: "t", subtitle: text, sections: [])).text == "# t\n\n\(markdown)\n")
    }
}

extension [MarkdownReader.Run] {
    /// What is seen, without our own emphasis, direction and marks of tone.
    fileprivate var literal: String {
        map { run in
            run.isCode
                ? run.text
                : run.text.replacing("**", with: "").replacing(#/[\u{2066}\u{2069}]/#, with: "")
        }.joined()
    }
}

extension Block {
    /// The rows of its tables, without titles, as they must be seen in Markdown.
    fileprivate var markdownRows: [[[String]]] {
        switch self {
        case .sentence, .pointer, .figures: []
        case .table(let table): [table.markdownRows]
        case .ladder(let ladder):
            [
                ladder.steps.map { step in
                    [
                        step.label.seen(.plain), Bar.blocks(step.share, width: 20),
                        Wording.count(step.value),
                        Wording.percent(step.share),
                    ]
                }, ladder.table.markdownRows,
            ]
        case .trend(let trend):
            [
                trend.charts.map { [$0.title.seen(.plain), $0.sparkline, $0.latest, $0.range] }
            ]
        }
    }
}

extension Table {
    fileprivate var markdownRows: [[String]] {
        let rows = withScaledBars.rows
        return rows.map { row in
            row.indices.flatMap { index in
                let cell = row[index]
                let text = cell.text.seen(cell.tone)
                let hasBar = rows.contains { $0[index].share != nil }
                return hasBar ? [text, Bar.blocks(cell.share ?? 0, width: 10)] : [text]
            }
        }
    }
}

extension String {
    /// As a cell shows it: without blanks around it, but for those that show that a row belongs to the one above.
    fileprivate func seen(_ tone: Tone) -> String {
        let words = String(printable: self).replacing(#/^ +| +$/#, with: "")
        if words.isEmpty { return "" }
        let said =
            switch tone {
            case .plain: words
            case .good: "✅ \(words)"
            case .alarm: "⚠️ \(words)"
            case .note: "_\(words)_"
            }
        return hasPrefix("  ") ? "\u{2003}" + said : said
    }
}
