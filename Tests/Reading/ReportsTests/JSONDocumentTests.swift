import Foundation
import ProjectFolder
import TestSupport
import Testing

@testable import Reports

@Suite("A report as JSON") struct JSONDocumentTests {
    private static let samples = SampleReport.Kind.allCases.map(\.report)

    @Test("a document contains what the schema says, no less and no more") func schema() throws {
        let check = try validate(JSONDocumentTests.samples.map { JSONDocument($0).text }.joined())
        #expect(check.status == 0, "\(check.output)\(check.messages)")
        #expect(check.output.hasPrefix("5 documents"))
    }

    @Test(
        "a document that breaks the schema is detected",
        arguments: [
            ("\"position\":", "\"place\":"), ("\"hours_since_end\":5", "\"hours_since_end\":5.5"),
            ("\"verdict\":\"lower\"", "\"verdict\":\"less\""), ("\"response_rate\":0.", "\"response_rate\":7."),
            ("\"page_index\":0,", ""), ("\"taps\":911", "\"taps\":-911"), ("report/1", "report/2"),
            ("\"median_seconds\":", "\"new\":1,\"median_seconds\":"),
            ("\"fallback_cost\":{", "\"fallback_cost\":{\"x\":1,"),
        ]) func mistakes(right: String, wrong: String) throws
    {
        let document = JSONDocument(SampleReport.busy).text
        let place = try #require(document.range(of: right))
        let check = try validate(document.replacingCharacters(in: place, with: wrong))
        #expect(check.status == 1)
        #expect(check.output.hasPrefix("1 documents\n$"))
    }

    @Test("a report is one line, so that several are JSON lines") func lines() throws {
        for report in JSONDocumentTests.samples {
            let text = JSONDocument(report).text
            #expect(text.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
            #expect(text.hasSuffix("}\n"))
        }
    }

    @Test("a name is read back as it was, and no control characters are written") func names() throws {
        let text = JSONDocument(SampleReport.hostile).text
        let report = try object(text)
        #expect(report["app"] as? String == HostileNames.script)
        let categories = try #require(report["categories"] as? [[String: Any]])
        let names = categories.compactMap { $0["category"] as? String }
        #expect(names.map { Array($0.utf16) } == HostileNames.all.map { Array($0.utf16) })
        for scalar in text.dropLast().unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                Issue.record("\(scalar.value) is written as it is")
            default: break
            }
        }
    }

    @Test("an invisible character beyond 16 bits is written as its two halves") func halves() throws {
        var report = SampleReport.small
        report.app = "tag\u{E0041}"
        let text = JSONDocument(report).text
        #expect(text.contains("tag\\udb40\\udc41"))
        #expect(try object(text)["app"] as? String == report.app)
    }

    @Test("a rate with nothing to divide by is null, and so is what is not known") func nulls() throws {
        let report = try object(JSONDocument(SampleReport.empty).text)
        let headline = try #require(report["headline"] as? [String: Any])
        #expect(headline["response_rate"] is NSNull && headline["previous"] is NSNull)
        #expect(headline["delivered"] as? Int == 0)
        #expect(report["fallback_cost"] is NSNull)
        #expect((report["categories"] as? [Any])?.isEmpty == true)
    }

    @Test("verdicts are words with their probability") func verdicts() throws {
        let report = try object(JSONDocument(SampleReport.busy).text)
        let versions = try #require(report["versions"] as? [[String: Any]])
        #expect(versions.map { $0["verdict"] as? String } == ["like_chance", "lower", "higher", "small_sample"])
        let chances = versions.map { $0["p"] as? Double }
        #expect(chances.map { $0.map { $0 < TwoProportions.significance } } == [false, true, true, nil])
        #expect(versions.map { $0["alarm"] as? Bool } == [false, true, false, false])
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func validate(_ documents: String) throws -> ChildProcess.Ended {
        let here = (#filePath as NSString).deletingLastPathComponent
        return try ChildProcess.run(
            [
                "/usr/bin/python3", "-I", "-B", here + "/schema/validate.py",
                ProjectFolder.path + "/Docs/report.schema.json",
            ],
            input: documents)
    }
}
