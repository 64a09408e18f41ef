import Foundation
import ProjectFolder
import Testing

/// `Docs/Architecture.md` says what each module is, and draws who imports whom.
@Suite("The guide's picture of the modules")
struct ArchitectureGuideTests {
    private static let file = "Docs/Architecture.md"
    private static let house = PackageTarget.all().filter(\.isPartOfTheHouse)

    @Test("the picture is what Package.swift says")
    func picture() throws {
        var guide = try ProjectFolder.text(of: Self.file)
        let begin = try #require(guide.firstRange(of: "<!-- Generated from Package.swift: make generated -->\n```\n"))
        let end = try #require(guide[begin.upperBound...].firstRange(of: "```\n"))
        if ProcessInfo.processInfo.environment["BELLWETHER_REGENERATE"] != nil {
            guide.replaceSubrange(begin.upperBound..<end.lowerBound, with: Self.drawn(Self.house))
            let file = ProjectFolder.url.appendingPathComponent(Self.file)
            try guide.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        #expect(guide[begin.upperBound..<end.lowerBound] == Self.drawn(Self.house), "regenerate with `make generated`")
    }

    @Test("the table has each module once, in a sentence")
    func table() throws {
        let guide = try ProjectFolder.text(of: Self.file)
        let begin = try #require(guide.firstRange(of: "| module | what it is |")).upperBound
        let table = guide[begin...].prefix(upTo: try #require(guide[begin...].firstRange(of: "\n\n")).lowerBound)
        let rows = table.split(separator: "\n").dropFirst(2).map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let named = rows.flatMap { row in row[1].matches(of: #/`([^`]+)`/#).map { String($0.1) } }
        #expect(named.sorted() == Self.house.map(\.name).sorted())
        #expect(rows.allSatisfy { $0.count >= 4 && $0[2].count > 20 })
    }

    /// From the programs down, floor by floor: a module stands above all that it imports.
    private static func drawn(_ targets: [PackageTarget]) -> String {
        var floors: [String: Int] = [:]
        // A module's floor is one above the highest that it imports. Each round settles another floor.
        for _ in targets {
            for target in targets {
                floors[target.name] = (target.dependencies.compactMap { floors[$0] }.max() ?? -1) + 1
            }
        }
        let width = (targets.map(\.name.count).max() ?? 0) + 3
        let top = floors.values.max() ?? 0
        return (0...top).reversed().map { floor in
            targets.filter { floors[$0.name] == floor }.sorted { $0.name < $1.name }.map { target in
                wrapped(target.name.padding(toLength: width, withPad: " ", startingAt: 0), target.dependencies.sorted())
            }.joined()
        }.joined(separator: "\n")
    }

    private static func wrapped(_ head: String, _ words: [String]) -> String {
        var lines = [head]
        for word in words {
            if lines[lines.count - 1].count + word.count > 120 {
                lines.append(String(repeating: " ", count: head.count))
            }
            lines[lines.count - 1] += word + " "
        }
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) + "\n" }.joined()
    }
}
