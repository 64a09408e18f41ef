import Testing

@testable import Reports

@Suite("A page for a terminal")
struct TextDocumentTests {
    @Test("it is aligned, has room, and says without colour what colour says") func small() {
        #expect(
            TextDocument(SmallPage.page).text(inColour: false) == """

                  shop · Friday 20 November 2026
                  Made at night from position 42.


                ── The day ─────────────────────────────────────────────────────────────────────────────────────────

                  Deliveries                     Response rate                  Pushes an install
                  48,210                         11.6 %                         2
                  +4.8 % on the day before,      5,123 of 44,012 received
                  +12.3 % on the usual Friday

                  ✓ Response is higher than the day before.
                  ! Receipts of ios 4.3.0 fell to 55.8 % from 98.3 % of its platform, lower by more than
                    chance makes.

                  * p < .01 is more than chance.


                ── Categories ──────────────────────────────────────────────────────────────────────────────────────

                  All categories
                    Category        Delivered        Rate
                    ────────────────────────────────────────────────────────────────────────
                    INFO_CATEGORY      21,044      11.4 % █████▌                     first
                   \u{2800}שלום\u{2800}               4,002      50.0 % ████████████████████████
                  ! 日本語                902   ! < 0.1 % ▏                          it fell
                    a|b *c*                 0           –
                    … and 7 more

                  INFO_CATEGORY
                    Delivered  ████████████████████████████████████████  21,044  100.0 %
                    Responded  ████▌                                      2,400   11.4 %
                    Nobody                                                    0      0 %

                    Page   Median time to tap
                    ─────────────────────────
                    1              22 min 2 s


                """)
    }

    @Test("colour is added if it is wanted, and ends with the line") func colour() {
        let lines = TextDocument(SmallPage.page).text(inColour: true).split(separator: "\n")
        #expect(lines.contains("  \u{1b}[1mshop · Friday 20 November 2026\u{1b}[0m"))
        #expect(
            lines.contains(
                "  \u{1b}[31m! \u{1b}[0m\u{1b}[31mReceipts of ios 4.3.0 fell to 55.8 % from 98.3 % of its platform, lower by more than\u{1b}[0m"
            ))
        #expect(
            lines.contains(
                "    Responded  \u{1b}[36m████▌\u{1b}[0m                                      2,400   \u{1b}[2m11.4 %\u{1b}[0m"
            ))
    }

    @Test(
        "a page of any shape fits, sends no control characters and loses no figure", arguments: 0..<40 as Range<UInt64>)
    func anyShape(seed: UInt64) throws {
        let random = RandomPage(seed: seed)
        let text = TextDocument(random.page).text(inColour: false)
        TerminalColumns.withUnicode {
            let tooWide = text.split(separator: "\n").filter { TerminalColumns.width($0) > 100 }
            #expect(tooWide == [])
        }
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isObeyed })
        #expect(text.split(separator: "\n").filter { $0.hasSuffix(" ") } == [])
        let words = Dictionary(grouping: text.split { $0.isWhitespace }, by: { $0 }).mapValues(\.count)
        #expect(random.figures.filter { words[$0.prefix { $0 != " " }] != 1 } == [])
        #expect(TextDocument(random.page).text(inColour: true).withoutStyles == text)
    }

    @Test(
        "names of every kind stand in a column of their own, with their figures in theirs", arguments: RandomPage.names)
    func column(name: String) throws {
        let table = Table(
            "", columns: [.name("Name"), .number("Count"), .name("Name"), .number("Count")],
            rows: [
                [.init("plain"), .init("1,111"), .init("plain"), .init("2,222")],
                [.init(name), .init("3,333"), .init(name), .init("4,444")],
            ])
        let page = Page(title: "t", subtitle: "", sections: [.init("s", [.table(table)])])
        let lines = TextDocument(page).text(inColour: false).split(separator: "\n")
        let plain = try #require(lines.first { $0.contains("1,111") })
        let named = try #require(lines.first { $0.contains("3,333") })
        TerminalColumns.withUnicode {
            for (above, below) in [("1,111", "3,333"), ("2,222", "4,444")] {
                #expect(plain.columns(before: above) == named.columns(before: below))
            }
        }
    }

    @Test("a name written from right to left stands between blanks that have a direction") func rightToLeft() throws {
        let lines = TextDocument(SmallPage.page).text(inColour: false).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("שלום") })
        #expect(line.hasPrefix("   \u{2800}שלום\u{2800}  "))
    }

    @Test("a table that is wider than a line continues below, each part with its names") func parted() {
        let columns = [Table.Column.name("Name")] + (1...12).map { .number("Figure \($0)") }
        let rows = ["one", "two"].map { name in
            [Table.Cell(name)] + (1...12).map { Table.Cell("\(name == "one" ? 1 : 2),000,000,000,0\($0 + 10)") }
        }
        let page = Page(
            title: "t", subtitle: "", sections: [.init("s", [.table(Table("", columns: columns, rows: rows))])])
        let lines = TextDocument(page).text(inColour: false).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("  one ") }.count == 3)
        #expect(lines.filter { $0.hasPrefix("  two ") }.count == 3)
        #expect(lines.allSatisfy { $0.count <= 100 })
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may do something on it, or show nothing for it.
    fileprivate var isObeyed: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension RandomPage {
    /// All figures of tables and of figures; names may be cut.
    fileprivate var figures: [String] {
        let cells = tables.flatMap { table in
            table.rows.flatMap { row in zip(row, table.columns).filter { $1.kind != .name }.map(\.0.text) }
        }
        return cells
            + page.sections.flatMap(\.blocks).flatMap { block in
                if case .figures(let figures) = block { figures.map(\.value) } else { [String]() }
            }
    }
}

extension StringProtocol {
    fileprivate var withoutStyles: String { String(self).replacing(#/\u{1b}\[[0-9;]*m/#, with: "") }

    fileprivate func columns(before text: String) -> Int? {
        ranges(of: text).first.map { TerminalColumns.width(self[..<$0.lowerBound]) }
    }
}
