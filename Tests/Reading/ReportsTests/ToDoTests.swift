import Testing
import Values

@testable import Reports

@Suite("What a report asks to do")
struct ToDoTests {
    @Test("at most three things come first, what is broken before what fell and what could be better")
    func order() throws {
        var report = SampleReport.busy
        report.judgeTogether()
        let all = report.sections.flatMap { $0.deeds(report) }
        #expect(all.count > 3)
        let deeds = ToDoSection.deeds(in: report)
        #expect(deeds.count == 3 && deeds == deeds.sorted { $0.urgency < $1.urgency })
        let page = Page(report)
        #expect(page.sections.first?.title == "What to do" && page.sections.first?.blocks.count == 3)
        for deed in all {
            #expect(page.sections.contains { $0.title == deed.section }, "\(deed.section)")
            #expect(deed.what.contains { $0.isNumber }, "\(deed.what)")
            #expect(!deed.what.hasSuffix("."))
        }
    }

    @Test("in HTML each leads to its section")
    func links() throws {
        var report = SampleReport.busy
        report.judgeTogether()
        let (page, html) = (Page(report), HTMLDocument(Page(report)).text)
        for deed in ToDoSection.deeds(in: report) {
            let place = try #require(page.sections.firstIndex { $0.title == deed.section })
            #expect(html.contains("(see <a href=\"#section-\(place + 1)\">\(deed.section)</a>).</p>"))
        }
    }

    @Test("if nothing deserves action, one sentence says so")
    func nothing() {
        let section = Page(SampleReport.small).sections.first
        #expect(section == Page.Section("What to do", [.sentence("Nothing on this day calls for action.", .plain)]))
        #expect(JSONDocument(SampleReport.small).text.contains(#""to_do":[]"#))
    }

    @Test("more delivered than sent is said of a variant where all variants together have no more", arguments: [90, 9])
    func variant(delivered: Int64) throws {
        var report = SampleReport.small
        report.campaigns = [
            CampaignSummary(
                name: "spring", counts: FunnelCounts(delivered: delivered), sent: 10,
                contradictions: ["delivered over sent"])
        ]
        let text = JSONDocument(report).text
        #expect(text.contains("with 90 delivered of 10 sent") == (delivered == 90), "\(text)")
        #expect(text.contains("of one of its variants, more delivered than sent") == (delivered == 9), "\(text)")
    }

    @Test("a week carries what its days ask for, until a settled day that had it asks no more")
    func week() throws {
        let monday = try #require(CivilDate(year: 2026, month: 11, day: 16))
        func day(_ place: Int, asks: Bool, delivers: Bool = true, settled: Bool = true) -> Report {
            var report = SampleReport.small
            report.period = .day(monday.advanced(by: place))
            report.settling = Settling(hoursSinceEnd: settled ? 999 : 1, share: settled ? 1 : 0.5, events: 5_000)
            let campaign = CampaignSummary(
                name: "spring",
                counts: FunnelCounts(delivered: delivers ? 90 : 0),
                sent: 10, contradictions: asks ? ["delivered over sent"] : [])
            report.campaigns = [campaign]
            return report
        }
        func open(_ days: [Report]) -> [CivilDate?] { ToDoSection.open(days).map(\.day) }
        #expect(open([day(0, asks: true), day(1, asks: true)]) == [monday.advanced(by: 1)])
        #expect(open([day(0, asks: true), day(1, asks: false)]) == [])
        #expect(open([day(0, asks: true), day(1, asks: false, delivers: false)]) == [monday])
        #expect(open([day(0, asks: true), day(1, asks: false, settled: false)]) == [monday])
        var week = SampleReport.small
        week.period = .week(Week(of: monday))
        week.carried = ToDoSection.open([day(0, asks: true)])
        let first = try #require(Page(week).sections.first)
        guard case .sentence(let words, _)? = first.blocks.first else {
            Issue.record("\(first)")
            return
        }
        #expect(
            words.hasPrefix("Check what reports the sends of spring: ")
                && words.hasSuffix("(report on Mon 16 Nov, “Campaigns”)."))
        #expect(
            JSONDocument(week).text.contains(
                #""day":"2026-11-16","ask":"Check what reports the sends of spring","subject":"campaign","name":"spring"}]"#
            ))
    }

    @Test("a rate that fell is named with both figures and where they stand")
    func fallen() {
        var report = SampleReport.small
        report.headline.counts.receivedResponded = 1
        report.headline.usual = .init(
            days: [report.day.advanced(by: -7)], delivered: 900, responseRate: 0.5, pooled: Rate(400, of: 800),
            receiptCoverage: 0.9, verdict: .lower(p: 0.001))
        #expect(
            ToDoSection.deeds(in: report).map(\.what) == [
                "Look for what changed: the response rate is 25.0 %, and Friday 13 November has 50.0 %"
            ])
    }
}
