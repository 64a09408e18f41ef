import Testing
import Values

@testable import Reports

@Suite("Words that are explained")
struct GlossaryTests {
    @Test("a term is explained where it stands first, and once")
    func once() {
        var glossary = Glossary()
        let first = glossary.explain(["Day", "Sole", "Exposures"]) ?? ""
        #expect(first.contains("Sole: deliveries whose only response") && first.contains("Exposures (who saw it): "))
        let (again, other) = (glossary.explain(["Sole", "Day"]), glossary.explain(["Negative"]))
        #expect(again == nil && other?.hasPrefix("Negative: receipts that are dated before the sending") == true)
    }

    @Test("what a section says itself is not said again")
    func said() {
        var glossary = Glossary()
        let beside = glossary.explain(["Engagement rate"], beside: ["Engagement is response without 8."])
        let after = glossary.explain(["Engaged"])
        #expect(beside == nil && after == nil)
    }

    @Test("each document of a report explains receipt coverage once, before the details")
    func report() throws {
        var report = SampleReport.busy
        report.judgeTogether()
        let page = Page(report)
        #expect(page.front.contains { "\($0.blocks)".contains("Receipt coverage: the share") })
        for text in [MarkdownDocument(page).text, HTMLDocument(page).text] {
            #expect(text.ranges(of: "Receipt coverage: the share").count == 1)
        }
    }
}
