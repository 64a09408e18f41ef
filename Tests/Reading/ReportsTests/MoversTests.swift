import Testing
import Values

@testable import Reports

@Suite("What rose and fell")
struct MoversTests {
    @Test("only what differs by more than chance is shown, with its interval, and what moved most people comes first")
    func table() throws {
        var report = SampleReport.busy
        report.judgeTogether()
        let section = try #require(Page(report).sections.first { $0.title == "What rose and fell" })
        let table = try #require(section.tables.first)
        #expect(table.rows.map { $0[0].text } == ["PW_STORIES", "ACCEPT_DECISION"])
        #expect(table.rows.map { $0[0].tone } == [.good, .alarm])
        #expect(table.rows[0].map(\.text).suffix(3) == ["15.3–16.4 %", "13.1 %", "+2.7 points"])
        #expect(section.sentences.first?.hasPrefix("3 categories were compared.") == true)
        let deeds = MoversSection.deeds(report).map(\.what)
        #expect(
            deeds == [
                "Look for what changed in ACCEPT_DECISION: its response rate is 19.6 %, and a usual Friday has 22.1 %",
                "Find out what people like in PW_STORIES: its response rate is 15.8 %, and a usual Friday has 13.1 %",
            ])
    }

    @Test("if the whole day fell, one line says so and names the category that fell most")
    func whole() throws {
        var report = SampleReport.busy
        report.headline.usual?.verdict = .lower(p: 0.0001)
        report.deadActions = []
        let fallen = report.sections.flatMap { $0.deeds(report) }.filter { $0.urgency == .fallen }
        #expect(fallen.count == 1)
        #expect(fallen[0].what.hasSuffix("; ACCEPT_DECISION fell most (22.1 % → 19.6 %)"))
    }

    @Test("if nothing moved, or it is too early to say, a sentence says that")
    func nothing() throws {
        var report = SampleReport.busy
        for place in report.movers.indices { report.movers[place].verdict = .likeChance(p: 0.4) }
        func sentence() throws -> String? {
            try #require(Page(report).sections.first { $0.title == "What rose and fell" }).sentences.first
        }
        #expect(try sentence() == "None of 3 categories differs from a usual Friday by more than chance.")
        for place in report.movers.indices { report.movers[place].verdict = .unsettled }
        #expect(try sentence()?.hasPrefix("It is too early to compare the categories with a usual Friday") == true)
        #expect(MoversSection.deeds(report).isEmpty)
    }
}
