import Foundation
import ProjectFolder
import Testing

/// The steps of a guide in `Docs/CONTRIBUTING.md`: the files that it names, each with the block of code below its name.
struct GuideStep {
    let file: String
    let code: String

    /// In the order of the guide.
    static func all(of guide: String) throws -> [GuideStep] {
        let parts = try ProjectFolder.text(of: "Docs/CONTRIBUTING.md").components(separatedBy: "\n### \(guide)\n")
        let part = try #require(parts.count == 2 ? parts.last : nil, "\(guide)")
        let own = part.components(separatedBy: "\n## ")[0].components(separatedBy: "\n### ")[0]
        return own.components(separatedBy: "\n```\n").compactMap { part in
            guard let fence = part.range(of: "```", options: .backwards) else { return nil }
            let lines = part[fence.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let named = part[..<fence.lowerBound].split(separator: "\n").last { $0.first?.isNumber == true }
            guard let file = named?.split(separator: "`").dropFirst().first else { return nil }
            return GuideStep(file: String(file), code: lines.joined(separator: "\n") + "\n")
        }
    }

    /// Fails unless the code registers this migration as the last one in `Migrations.steps` is registered.
    static func expectRegistered(_ name: String, by code: String, after last: String) throws {
        let resource = "_" + last.dropFirst() + "_sql"
        let line = code.replacingOccurrences(of: name, with: last)
            .replacingOccurrences(of: "_" + name.dropFirst() + "_sql", with: resource)
        #expect(try ProjectFolder.text(of: "Sources/Operations/Migrations/Migrations.swift").contains(line + "    ]\n"))
    }

    /// A text after the changes of this step: parts between `@@`, each of which finds its lines once.
    func applied(to text: String) throws -> String {
        var text = text
        for part in code.components(separatedBy: "@@\n") {
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            func side(_ sign: Character) -> String {
                lines.filter { $0.first == " " || $0.first == sign }.map { $0.dropFirst() + "\n" }.joined()
            }
            try #require(text.components(separatedBy: side("-")).count == 2, "\(file) has once: \(side("-"))")
            text = text.replacingOccurrences(of: side("-"), with: side("+"))
        }
        return text
    }
}
