import Foundation
import ProjectFolder
import ServiceRuntime
import TestSupport
import Testing

@testable import Ingestion

/// Whoever is woken up by an alert, a line of doctor or a code must find its heading, and there what to do.
@Suite("Docs/Runbook.md")
struct RunbookTests {
    /// Each heading with its text.
    private let sections: [String: String]
    private let book: String

    init() throws {
        book = try ProjectFolder.text(of: "Docs/Runbook.md")
        let parts = book.components(separatedBy: "\n### ").dropFirst().map { part in
            let lines = part.components(separatedBy: "\n")
            let end = lines.firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
            return (lines[0], lines[..<end].dropFirst().joined(separator: "\n"))
        }
        sections = Dictionary(parts) { first, _ in first }
        #expect(sections.count == parts.count && sections.count > 20)
    }

    /// The part of a heading that says what one sees.
    private func signs(_ heading: String) throws -> Substring {
        try #require(sections[heading]?.firstMatch(of: /\*\*You see:\*\*(?s:(.*?))\*\*It means:\*\*/), "\(heading)").1
    }

    @Test("each heading says what one sees, what it means, what to do, and how one knows that it is over")
    func parts() {
        for (heading, text) in sections {
            let said = text.matches(of: /(?m)^\*\*(You see:|It means:|Do:|It is over when)\*\*/).map { String($0.1) }
            #expect(said == ["You see:", "It means:", "Do:", "It is over when"], "\(heading)")
        }
        for symptom in Runbook.allCases { #expect(sections[symptom.rawValue] != nil, "\(symptom)") }
    }

    @Test("each alert has an urgency and a heading in the first table, links to it, and is named there")
    func alerts() throws {
        let rules = try ProjectFolder.text(of: "Examples/prometheus-rules.yml")
        let known = rules.matches(of: /- alert: (\w+)(?s:.*?)runbook_url: "Docs\/Runbook\.md#([^"]+)"/)
        #expect(try ProjectFolder.text(of: "Docs/Operations.md").contains("has \(known.count) alerts"))
        #expect(known.count == rules.matches(of: #/- alert: /#).count)
        var told: [String: String] = [:]
        for row in book.matches(
            of: /(?m)^\| (`Bellwether[^|]+)\| (?:at once|working hours) \| \[([^\]]+)\]\(#([^)]+)\) \|/)
        {
            #expect(Runbook.anchor(of: String(row.2)) == row.3)
            for name in row.1.matches(of: /`(\w+)`/).map({ String($0.1) }) {
                #expect(try signs(String(row.2)).contains("`\(name)`"), "\(name)")
                #expect(told.updateValue(String(row.3), forKey: name) == nil)
            }
        }
        #expect(told == Dictionary(uniqueKeysWithValues: known.map { (String($0.1), String($0.2)) }))
    }

    @Test("each WARN and FAIL of doctor is named at the heading that it names")
    func doctor() throws {
        let folder = "Sources/Programs/bellwether/Doctor"
        var named: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: "\(ProjectFolder.path)/\(folder)") {
            let checks = try ProjectFolder.text(of: "\(folder)/\(file)").components(separatedBy: "Examination(name: \"")
            for check in checks {
                let name = check.prefix { $0 != "\"" }
                for use in check.matches(of: /see: \.(\w+)/) {
                    let symptom = try #require(Runbook.allCases.first { "\($0)" == use.1 }, "\(use.1)")
                    named.insert(symptom.rawValue)
                    // What any check may say has no name of its own.
                    if check == checks[0] { continue }
                    #expect(try signs(symptom.rawValue).contains("`\(name)`"), "\(name): \(symptom)")
                }
            }
        }
        named.formUnion(Problem.Code.allCases.compactMap(\.runbook?.rawValue))
        #expect(named == Set(Runbook.allCases.map(\.rawValue)))
    }

    @Test("each code that an operator can cause or mend is named at its heading, and Docs/API.md links there")
    func codes() throws {
        let table = try ProjectFolder.text(of: "Docs/API.md").matches(of: /(?m)^\| \d+ \| `.+\|$/).map { String($0.0) }
        for code in Problem.Code.allCases {
            let row = try #require(table.first { $0.contains("`\(code.rawValue)`") }, "\(code)")
            let links = row.matches(of: /\(Runbook\.md#([^)]+)\)/).map { String($0.1) }
            #expect(links == (code.runbook.map { [Runbook.anchor(of: $0.rawValue)] } ?? []), "\(code)")
            if let symptom = code.runbook {
                #expect(try signs(symptom.rawValue).contains("`\(code.rawValue)`"), "\(code)")
            }
        }
    }

    @Test("each line of the log that it quotes is one that the program writes")
    func lines() throws {
        let sources = try #require(FileManager.default.enumerator(atPath: ProjectFolder.path + "/Sources"))
        var program = ""
        for case let file as String in sources where file.hasSuffix(".swift") {
            program += try ProjectFolder.text(of: "Sources/\(file)")
        }
        var quoted = 0
        for heading in sections.keys {
            for list in try signs(heading).matches(of: /\blog\s+((?:`[^`]+`(?:,\s+)?)+)/) {
                for line in list.1.matches(of: /`([^`]+)`/) {
                    let words = line.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(program.contains(words), "\(words)")
                    quoted += 1
                }
            }
        }
        #expect(quoted > 15)
    }

    @Test("each phase that the metrics have is in the table of its heading")
    func phases() throws {
        let metrics = try Metrics(SharedService.get().service.client().get("/metrics").body)
        for (family, symptom) in [("projection", Runbook.funnelsBehind), ("commit", .commitsSlow)] {
            let labels = metrics.samples.filter { $0.name == "bellwether_\(family)_phase_seconds_count" }.map(\.labels)
            let rows = sections[symptom.rawValue]?.matches(of: /(?m)^\| `(\w+)` \|/).map { "phase=\"\($0.1)\"" }
            #expect(labels.count > 5 && rows == labels)
        }
    }

    @Test("the board of the service asks for metrics and labels that there are")
    func board() throws {
        let metrics = try Metrics(SharedService.get().service.client().get("/metrics").body)
        let board = try ProjectFolder.text(of: "Examples/grafana/provisioning/dashboards/bellwether-service.json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(board.utf8)) as? [String: Any])
        let panels = try #require(object["panels"] as? [[String: Any]])
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        let asked = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
        #expect(asked.count >= panels.count)
        for expression in asked {
            let names = expression.matches(of: /bellwether_\w+/).map { String($0.0) }
            #expect(!names.isEmpty)
            for name in names {
                let family = name.replacing(/_(bucket|sum|count)$/, with: "")
                #expect(metrics.kinds[name] != nil || metrics.kinds[family] == "histogram", "\(name)")
            }
        }
        for family in ["projection", "commit"] {
            #expect(
                asked.contains { $0.contains("by (phase)") && $0.contains("bellwether_\(family)_phase_seconds_sum") })
        }
    }
}
