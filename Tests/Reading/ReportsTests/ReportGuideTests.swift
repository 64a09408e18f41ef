import Foundation
import ProjectFolder
import Testing

@testable import Reports

/// `Docs/Report.md` shows lines of real documents.
@Suite struct ReportGuideTests {
    @Test("each line of JSON that the guide shows is in a document")
    func json() throws {
        let document = JSONDocument(SampleReport.busy).text
        let lines = try shown("json").filter { $0 != "{" && $0 != "}" }
        #expect(lines.count > 5)
        for line in lines { #expect(document.contains(line), "\(line)") }
    }

    @Test("each line of CSV that the guide shows is in a document, and each section is named")
    func csv() throws {
        let document = Set(CSVDocument([SampleReport.busy]).text.split(separator: "\n"))
        let lines = try shown("csv")
        #expect(lines.count > 5)
        for line in lines { #expect(document.contains(Substring(line)), "\(line)") }
        let week = CSVDocument([SampleReport.week]).text.split(separator: "\n")
        let sections = Set(
            (Array(document) + week).map { $0.split(separator: ",", omittingEmptySubsequences: false)[3] })
        let row = try #require(try guide().split(separator: "\n").first { $0.hasPrefix("| `section` |") })
        let named = Set(row.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
        #expect(named == sections)
    }

    @Test("the guide has the sections in the order of the output")
    func order() throws {
        let rows = try guide().split(separator: "\n").drop { $0 != "## The sections, in order" }.dropFirst()
            .prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }
        let named = rows.compactMap { $0.split(separator: "|").first }.flatMap { cell in
            cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        var report = SampleReport.busy
        report.isSealed = true
        report.judgeTogether()
        let titles = Page(report).sections.map(\.title)
        #expect(titles.count > 15)
        #expect(titles == named.filter(titles.contains))
    }

    private func shown(_ language: String) throws -> [String] {
        let guide = try guide()
        let start = try #require(guide.range(of: "```\(language)\n"))
        let end = try #require(guide[start.upperBound...].range(of: "\n```"))
        return guide[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
    }

    private func guide() throws -> String {
        try ProjectFolder.text(of: "Docs/Report.md")
    }
}
