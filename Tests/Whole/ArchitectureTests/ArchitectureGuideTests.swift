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

    @Test("the map has each module once, in its group, in a sentence, and the groups from the top down")
    func map() throws {
        let rows = try Self.rows(under: "| group | module | what it is for | what it never has |")
        var group = ""
        let named = rows.flatMap { row in
            if let name = row[0].firstMatch(of: #/\w+/#) { group = "Sources/\(name.output)" }
            return Self.quoted(row[1]).map { "\(group)/\($0)" }
        }
        let modules = PackageTarget.all().filter(\.isInSources)
        #expect(named.sorted() == modules.map(\.path).sorted())
        #expect(rows.allSatisfy { $0.count == 4 && $0[2].count > 20 })
        let order = rows.compactMap { $0[0].firstMatch(of: #/\w+/#).map { "Sources/\($0.output)" } }
        #expect(order.reversed() == modules.map(\.group).reduce(into: []) { if $0.last != $1 { $0.append($1) } })
    }

    @Test("what the map points at is there")
    func places() throws {
        let paths = try Self.rows(under: "| if you want to | begin at | then |").flatMap { $0.flatMap(Self.quoted) }
            .filter { $0.contains("/") }
        #expect(paths.count > 6)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: "\(ProjectFolder.path)/\(path)"), "\(path)")
        }
    }

    /// The cells of the table with this head.
    private static func rows(under head: String) throws -> [[String]] {
        let guide = try ProjectFolder.text(of: file)
        let begin = try #require(guide.firstRange(of: head + "\n")).upperBound
        let table = guide[begin...].prefix(upTo: try #require(guide[begin...].firstRange(of: "\n\n")).lowerBound)
        return table.split(separator: "\n").dropFirst().map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    private static func quoted(_ text: String) -> [String] {
        text.matches(of: #/`([^`]+)`/#).map { String($0.1) }
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
