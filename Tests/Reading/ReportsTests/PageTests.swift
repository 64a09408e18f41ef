import Testing

@testable import Reports

@Suite("A report in words") struct PageTests {
    @Test("every document says right after the headline that a day is sealed, and says nothing of other days")
    func sealed() throws {
        var report = SampleReport.busy
        #expect(!Page(report).sections.contains { $0.title == "Sealed" })
        #expect(JSONDocument(report).text.contains(#","sealed":false,"#))
        #expect(CSVDocument([report]).text.contains("\nshop,2026-11-20,48213,report,,,,,sealed,0\n"))
        report.isSealed = true
        let section = try #require(Page(report).sections.dropFirst(2).first)
        let sentence =
            "Retention dropped old events of this day. Its sums remain, but installs, hours, stack depths and launches are "
            + "no longer known."
        #expect(section.blocks == [.sentence(sentence, .plain)])
        #expect(JSONDocument(report).text.contains(#","sealed":true,"#))
        #expect(CSVDocument([report]).text.contains("\nshop,2026-11-20,48213,report,,,,,sealed,1\n"))
    }

    @Test("on a day without deliveries, silent pushes are mentioned only if there were some")
    func silentOnly() throws {
        func headline(_ change: (inout Report) -> Void) throws -> Block? {
            var report = SampleReport.empty
            change(&report)
            return try #require(Page(report).sections.first { $0.title == "The day" }).blocks.first
        }
        let none = try headline { $0.quality.rejected = 5 }
        #expect(none == .sentence("No push left a trace on this day.", .plain))
        let silent = try headline { report in
            report.silent = [
                SilentSummary(campaign: "sync", woken: 9, newData: 3, noData: 3, failed: 2, noResult: 1)
            ]
        }
        #expect(silent == .sentence("Only silent pushes left a trace on this day.", .plain))
    }

    @Test("a response rate stands beside the two numbers it is made of, and a note counts those without a receipt")
    func responded() throws {
        let report = SampleReport.busy
        let delivered = report.campaigns.map(\.counts).filter { $0.delivered > 0 }
        for (title, lists) in [("Categories", report.categories.map(\.counts)), ("Campaigns", delivered)] {
            let blocks = try #require(Page(report).sections.first { $0.title == title }).blocks
            let first = try #require(blocks.firstIndex { $0.table?.caption == "All \(title.lowercased())" })
            let table = try #require(blocks[first].table)
            guard case .sentence(let note, .note) = blocks[first + 1] else {
                Issue.record("\(title) begins with \(blocks[first]), \(blocks[first + 1])")
                continue
            }
            let columns = table.columns.map(\.title)
            let place = try #require(columns.firstIndex(of: "Response rate"))
            #expect(columns[place - 1] == "Responded")
            for (row, counts) in zip(table.rows, lists) {
                #expect(Int64(row[place - 1].text.filter { $0 != "," }) == counts.receivedResponded)
                #expect(row[place].share == counts.responseRate.value)
            }
            let others = lists.reduce(0) { $0 + $1.responded - $1.receivedResponded }
            #expect(
                note
                    == "Rates are shares of received. \(Wording.count(others)) more responded without a receipt and are in none."
            )
        }
        var all = report
        for place in all.campaigns.indices {
            all.campaigns[place].counts.responded = all.campaigns[place].counts.receivedResponded
            (all.campaigns[place].sent, all.campaigns[place].accepted, all.campaigns[place].fcmDelivered) = (
                nil, nil, nil
            )
            (all.campaigns[place].contradictions, all.campaigns[place].variants) = ([], [])
        }
        #expect(Page(all).sections.first { $0.title == "Campaigns" }?.blocks.count == 2)
    }

    @Test("the note on dead buttons claims no more days than are read") func deadButtons() throws {
        let blocks = try #require(Page(SampleReport.busy).sections.first { $0.title == "Dead buttons" }).blocks
        guard case .table(let table) = blocks[0], case .sentence(let note, .note) = blocks[1] else {
            Issue.record("\(blocks)")
            return
        }
        #expect(table.rows.map { $0[2].text } == ["tapped before, but not for 9 days", "never tapped"])
        #expect(note.contains("over at most the last 28 days"))
    }

    @Test("a rate is marked if fewer than four in five of those who responded have a receipt")
    func marked() throws {
        func text(_ responded: Int64, _ receivedResponded: Int64) throws -> (cell: String, notes: [String]) {
            var counts = FunnelCounts(delivered: 1_000, received: 900, responded: responded)
            counts.receivedResponded = receivedResponded
            let blocks = Block.funnels(
                "All", "Name", none: "", leadingWithEngagement: false, of: [("news", counts, false)])
            let row = try #require(blocks.first?.table?.rows.first)
            let notes = blocks.compactMap { if case .sentence(let text, .note) = $0 { text } else { nil } }
            return (row[4].text, notes)
        }
        #expect(try text(100, 80).cell == "8.9 %" && text(100, 80).notes.count == 1)
        #expect(try text(100, 79).cell == "8.8 % *")
        #expect(try text(100, 79).notes.last?.hasPrefix("* Of those who responded, fewer than 80 %") == true)
        // Of few, nothing is said.
        #expect(try text(9, 0).cell == "0 %")
        var report = SampleReport.busy
        #expect(!Page(report).sections.contains { $0.sentences.contains { $0.hasPrefix("Only ") } })
        report.headline.counts.responded = report.headline.counts.receivedResponded * 2
        let day = try #require(Page(report).sections.first { $0.title == "The day" })
        #expect(
            day.sentences.first
                == "Only 50.0 % of those who responded have a receipt, so the rates above are probably too low.")
    }
}

extension PageTests {
    @Test("what happened and what to do stands before the details, in every format, and is short")
    func front() throws {
        var report = SampleReport.busy
        report.judgeTogether()
        let page = Page(report)
        #expect(page.front.map(\.title).prefix(2) == ["What to do", "The day"])
        #expect(
            page.details.contains { $0.title == "Categories" }
                && page.details.contains { $0.title == "Hour of receipt" })
        let text = TextDocument(page).text(inColour: false)
        let first = try #require(text.firstRange(of: "══ Details ═"))
        #expect(text[..<first.lowerBound].split { $0.isWhitespace }.count < 600)
        #expect(text[first.lowerBound...].contains("Alarms are in: "))
        let markdown = MarkdownDocument(page).text
        let rule = try #require(markdown.firstRange(of: "\n# Details\n"))
        #expect(
            markdown[..<rule.lowerBound].contains("## The day")
                && !markdown[..<rule.lowerBound].contains("## Categories"))
        let html = HTMLDocument(page).text
        let (divide, contents) = (html.firstRange(of: "id=\"details\""), html.firstRange(of: "<nav "))
        #expect(try #require(divide).lowerBound < #require(contents).lowerBound)
    }
}
