import Foundation
import ProjectFolder
import Testing

/// What breaks on a busy machine and nowhere else.
@Suite("The patience of tests")
struct PatienceTests {
    @Test("no test sleeps, says how long something may last, or has a time limit of its own")
    func bounds() throws {
        let rules: [(what: String, pattern: Regex<Substring>)] = [
            ("sleeps", #/\b(?:Thread\.sleep|nanosleep)\(/#),
            ("bounds a time", #/nanoseconds - \w+\.nanoseconds\)?(?: \/ \w+)? <=? /#),
            ("bounds a time", #/timeIntervalSince\(\w+\) <=? /#),
            ("has a limit of its own, beside that of Tests/run", #/\.timeLimit\(/#),
        ]
        let folder = ProjectFolder.path + "/Tests"
        var read = 0
        var found: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name.hasSuffix(".swift") {
            guard !name.hasSuffix("ArchitectureTests/PatienceTests.swift") else { continue }
            read += 1
            for line in try ProjectFolder.text(of: "Tests/" + name).split(separator: "\n") {
                for rule in rules where line.contains(rule.pattern) { found.append("\(name) \(rule.what): \(line)") }
            }
        }
        #expect(read > 500)
        #expect(found == [])
    }
}
