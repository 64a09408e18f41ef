import Foundation
import FoundationXML
import ServiceRuntime
import Testing

@testable import Reports

@Suite("A report as mail")
struct MailDocumentTests {
    /// What Outlook for Windows, Gmail and Apple Mail all draw.
    private static let elements: Set<String> = [
        "html", "head", "meta", "title", "body", "table", "tr", "th", "td", "p", "h1", "h2", "strong", "br",
    ]
    private static let attributes: Set<String> = [
        "lang", "charset", "name", "content", "style", "width", "height", "bgcolor", "align", "valign", "role", "scope",
        "cellpadding", "cellspacing", "border",
    ]
    private static let properties: Set<String> = [
        "margin", "padding", "background-color", "color", "font", "border-bottom", "border-left", "width", "max-width",
    ]

    @Test(
        "is made of what every reader of mail draws, and names from outside stay text",
        arguments: SampleReport.Kind.allCases)
    func elements(kind: SampleReport.Kind) throws {
        let text = MailDocument(Page(kind.report)).text
        let document = try XMLDocument(data: Data(text.utf8))
        for node in try document.nodes(forXPath: "//*") {
            let element = try #require(node as? XMLElement)
            #expect(Self.elements.contains(element.name ?? ""), "\(element.name ?? "")")
            for attribute in element.attributes ?? [] {
                #expect(Self.attributes.contains(attribute.name ?? ""), "\(attribute)")
                guard attribute.name == "style" else { continue }
                for rule in (attribute.stringValue ?? "").split(separator: ";") {
                    let name = String(rule.prefix { $0 != ":" })
                    #expect(Self.properties.contains(name), "\(rule)")
                }
                #expect(attribute.stringValue?.contains("url(") == false)
            }
        }
        // Gmail cuts off what is longer.
        #expect(text.utf8.count < 102_000)
    }

    @Test("says all that the report says, with bars as cells and trends as block characters")
    func words() throws {
        let page = Page(SampleReport.busy)
        let text = MailDocument(page).text
        let leftOut = text.split(separator: "Left out, because mail of this size is cut off: ").dropFirst().first ?? ""
        var whole = 0
        for section in page.sections {
            let isThere = text.contains(">\(String(html: section.title))</h2>")
            #expect(isThere != leftOut.contains(String(html: section.title)), "\(section.title)")
            guard isThere else { continue }
            whole += 1
            for sentence in section.sentences { #expect(text.contains(String(htmlProse: sentence)), "\(sentence)") }
        }
        #expect(whole > 10, "\(whole) of \(page.sections.count)")
        #expect(
            text.contains("<strong style=\"color:#a3261b;\">Alarm:</strong>") && text.contains("bgcolor=\"#2f7679\""))
        #expect(text.contains("▁") && !text.contains("<svg"))
    }

    @Test("what does not fit is named, and the first section is always there")
    func long() {
        var page = Page(SampleReport.busy)
        page.sections += (1...40).map {
            Page.Section("Much \($0)", [.sentence(String(repeating: "words ", count: 800), .plain)])
        }
        let text = MailDocument(page).text
        #expect(text.utf8.count < 102_000 && text.contains("Left out, because mail of this size is cut off: "))
        #expect(text.contains("Much 40"))
    }

    @Test("a subject says the app, the day and the verdict in one line of plain words, whatever categories are called")
    func subject() {
        var report = SampleReport.busy
        report.judgeTogether()
        let documents = ReportDocuments(of: report)
        let message = ReportMessage(report, documents)
        #expect(message.subject.hasPrefix("shop, Friday 20 November: "), "\(message.subject)")
        #expect(message.subject.contains("ACCEPT_DECISION fell, PW_STORIES rose"), "\(message.subject)")
        #expect(
            message.news.map(\.kind.rawValue).contains("fell") && message.news.map(\.kind.rawValue).contains("rose"))
        #expect(
            message.news.contains {
                $0.words == "The response rate of ACCEPT_DECISION fell: 22.1 % → 19.6 %, against a usual Friday"
            })
        #expect(message.summary.hasPrefix(message.subject + "\n") && message.summary.unicodeScalars.count <= 2800)
    }

    @Test("a name from outside neither begins a line of a summary nor turns one around")
    func summary() {
        var report = SampleReport.busy
        report.judgeTogether()
        func lines() -> [Substring] {
            ReportMessage(report, ReportDocuments(of: report)).summary.split(separator: "\n")
        }
        let plain = lines()
        for place in report.movers.indices {
            report.movers[place].category = "X\nAlarm: all is lost\u{2028}To do: pay\u{202E}neleG\u{2066}"
        }
        let hostile = lines()
        #expect(hostile.count == plain.count && hostile.contains { $0.contains("all is lost") })
        #expect(hostile.allSatisfy { !$0.hasPrefix("Alarm: all") && !$0.hasPrefix("To do: pay") })
        let turning: [Unicode.Scalar] = ["\u{2028}", "\u{202E}", "\u{2066}"]
        #expect(hostile.allSatisfy { line in !line.unicodeScalars.contains { turning.contains($0) } })
    }

    @Test("only what survives the judgement of all comparisons together is news")
    func judged() {
        var report = SampleReport.busy
        report.judgeTogether()
        for place in report.movers.indices { report.movers[place].verdict = .likeChance(p: 0.009) }
        report.headline.usual?.verdict = .likeChance(p: 0.02)
        report.headline.previous?.verdict = .lower(p: 0.0001)
        #expect(report.news.allSatisfy { $0.kind == .alarm })
        report.headline.usual?.verdict = .lower(p: 0.0001)
        #expect(report.news.filter { $0.kind == .fell }.count == 1)
        let quiet = ReportMessage(SampleReport.empty, ReportDocuments(of: SampleReport.empty))
        #expect(quiet.news.isEmpty && quiet.subject.hasSuffix("no event is on record"))
    }
}
