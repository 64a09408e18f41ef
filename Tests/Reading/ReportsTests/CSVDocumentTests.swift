import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import Reports

@Suite("Reports as CSV") struct CSVDocumentTests {
    @Test("it is one table: a head, the same number of cells in each line, and a number or nothing at the end")
    func table() throws {
        let text = CSVDocument(SampleReport.Kind.allCases.map(\.report)).text
        let rows = try read(text)
        #expect(rows.first == CSVDocument.columns)
        #expect(rows.count > 3_000)
        // A record is a line, also for tools that only know lines.
        #expect(rows.count == text.utf8.filter { $0 == UInt8(ascii: "\n") }.count)
        #expect(!text.utf8.contains(UInt8(ascii: "\r")))
        for row in rows.dropFirst() {
            #expect(row.count == 10)
            #expect(row[9].isEmpty || Double(row[9]) != nil, "\(row)")
            #expect(Int(row[2]) != nil)
        }
        let keys = rows.map { $0.dropLast().joined(separator: "\u{1F}") }
        #expect(Set(keys).count == keys.count, "no two lines are of the same number")
    }

    @Test("each number is in the line that names it") func values() throws {
        let rows = try read(CSVDocument([SampleReport.busy]).text)
        let values = Dictionary(
            uniqueKeysWithValues: rows.map { ($0[3...8].joined(separator: "|"), $0[9]) })
        let known = [
            "headline|||||delivered": "40262", "headline|||||previous.pooled.received": "32766",
            "headline|||||previous.verdict": "-1", "headline|||||usual.verdict": "0",
            "settling|||||share": "0.914", "restated|2026-11-19||||told.delivered": "38120",
            "restated|2026-11-19||||now.delivered": "38904", "restated|2026-11-19||||told_at": "46990",
            "categories|PW_STORIES||||received": "18201", "actions|ACCEPT_DECISION|ACCEPT|||median_seconds": "41.5",
            "launches|PW_STORIES|cold|||opened": "1702", "launches|PW_STORIES||||opened": "15",
            "dead_actions|ACCEPT_DECISION|HOLDING|||days_without_tap": "9",
            "dead_actions|\(HostileNames.script)||2||action_count": "3", "campaigns|||||delivered": "14300",
            "stories|PW_STORIES|black-friday|||exit_fallback": "402",
            "pages|PW_STORIES|black-friday||1|reached": "4410",
            "fallback_cost|||||fallback.received": "402", "threads|promo||||items": "31022",
            "versions|ios|4.3.0-beta.1|||alarm": "1", "versions|ios|4.3.0-beta.1|||before.received": "21040",
            "versions|||||verdict": "", "versions|||||p": "", "suppressed|CART_REMINDER||||suppressed": "206",
            "silent|config-refresh||||woken": "9204", "media|image|cellular|timed_out||deliveries": "611",
            "reach|||||pushes_p95": "5", "hours|9||||received": "3128", "trend|2026-11-20||||delivered": "40262",
            "trend|2026-11-20||||settled": "0",
            "movers|ACCEPT_DECISION||||verdict": "-1", "muted_after|CART_REMINDER||||installs": "9",
            "data_quality|||||late": "8045",
            "rejected_by_reason|invalid_time||||events": "61",
        ]
        for (key, value) in known { #expect(values[key] == value, "\(key)") }
    }

    @Test("no name is taken for a formula, and no number becomes text") func formulas() throws {
        var report = SampleReport.hostile
        report.app = HostileNames.formula
        report.settling.hoursSinceEnd = -3
        let rows = try read(CSVDocument([report]).text)
        for row in rows {
            for name in row[0...8] {
                let start = name.drop { $0.isWhitespace }.unicodeScalars.first
                #expect(start.map { "=+-@＝＋－＠\t\r".unicodeScalars.contains($0) } != true, "\(name)")
            }
        }
        #expect(rows[1][0] == "'" + HostileNames.formula)
        #expect(rows.contains { $0[8] == "hours_since_end" && $0[9] == "-3" })
    }

    @Test("a name is shown as it is, except for invisible and direction-changing characters") func names() throws {
        let rows = try read(CSVDocument([SampleReport.hostile]).text)
        let names = Set(rows.filter { $0[3] == "threads" }.map { $0[4] })
        for name in HostileNames.all {
            let shown = String(printable: name)
            #expect(names.contains(shown) || names.contains("'" + shown), "\(shown)")
        }
        #expect(names.count == HostileNames.all.count)
    }

    @Test("a combining mark does not hide a quote or a comma") func combining() throws {
        var report = SampleReport.small
        report.campaigns = [.init(name: "a,\u{301}b\"\u{301}c", counts: report.headline.counts)]
        let rows = try read(CSVDocument([report]).text)
        #expect(rows.allSatisfy { $0.count == 10 })
        #expect(rows.contains { $0[3] == "campaigns" && Array($0[4].utf16) == Array("a,\u{301}b\"\u{301}c".utf16) })
    }

    /// As another program reads it.
    private func read(_ text: String) throws -> [[String]] {
        let script = """
            import csv, io, json, sys
            text = sys.stdin.buffer.read().decode()
            json.dump(list(csv.reader(io.StringIO(text, newline=""), strict=True)), sys.stdout)
            """
        let ended = try ChildProcess.run(["/usr/bin/python3", "-I", "-c", script], input: text)
        try #require(ended.status == 0, "\(ended.messages)")
        return try JSONDecoder().decode([[String]].self, from: Data(ended.output.utf8))
    }
}
