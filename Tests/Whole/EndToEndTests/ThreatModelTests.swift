import Foundation
import ProjectFolder
import Testing

@Suite("What the documents say is tested") struct ThreatModelTests {
    /// The tests of each suite, by the names in the sources.
    private static func suites() throws -> [String: Set<String>] {
        let root = ProjectFolder.path + "/Tests"
        var suites: [String: Set<String>] = [:]
        let files = try #require(FileManager.default.enumerator(atPath: root))
        for case let name as String in files where name.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
            guard text.contains("@Test"), let suite = text.firstMatch(of: /(?:struct|class) ([A-Za-z]+Tests)\b/) else {
                continue
            }
            // The function that a @Test stands before, whatever stands between.
            let tests = text.split(separator: "@Test").dropFirst().compactMap { part in
                part.firstMatch(of: /func ([A-Za-z0-9]+)/).map { String($0.1) }
            }
            suites[String(suite.1), default: []].formUnion(tests)
        }
        return suites
    }

    /// What is named in the last cell of each row: `Suite/test`, and then perhaps `test` of the same suite.
    private static func named(in file: String) throws -> [(suite: String, test: String?)] {
        var named: [(suite: String, test: String?)] = []
        for line in try ProjectFolder.text(of: file).split(separator: "\n") where line.hasPrefix("| ") {
            var suite: String?
            for word in (line.split(separator: " | ").last ?? "").matches(of: /`([A-Za-z0-9\/]+)`/) {
                let parts = word.1.split(separator: "/").map(String.init)
                // A path among the tests is no suite.
                if parts[0] == "Tests" { continue }
                if parts[0].hasSuffix("Tests") {
                    suite = parts[0]
                    named.append((parts[0], parts.count > 1 ? parts[1] : nil))
                } else if let suite, parts.count == 1 {
                    named.append((suite, parts[0]))
                }
            }
        }
        return named
    }

    @Test("each test that a document names is there", arguments: ["Docs/Security.md", "Docs/Reliability.md"])
    func names(file: String) throws {
        let suites = try Self.suites()
        #expect(suites.count > 100 && suites["ThreatModelTests"]?.contains("names") == true)
        let named = try Self.named(in: file)
        #expect(named.count > 25)
        for (suite, test) in named {
            let tests = suites[suite]
            #expect(tests != nil, "there is no \(suite)")
            if let test, let tests { #expect(tests.contains(test), "\(suite) has no \(test)") }
        }
    }

    @Test("each line of the threat model names a test")
    func everyLine() throws {
        let lines = try ProjectFolder.text(of: "Docs/Security.md").split(separator: "\n").filter {
            $0.hasPrefix("| ")
        }
        let rows = lines.filter { !$0.hasPrefix("| ---") && !$0.hasPrefix("| who | cannot") }
        #expect(rows.count > 25)
        for row in rows { #expect(row.contains(/\| `[A-Za-z]+Tests[^|]*\|$/), "\(row)") }
    }
}
