import Foundation
import ProjectFolder

/// A target of this package as `Package.swift` declares it.
struct PackageTarget {
    enum Kind: String, CaseIterable {
        case target, executableTarget, testTarget, systemLibrary
    }

    let kind: Kind
    let name: String
    /// The folder of its group, such as Sources/Log.
    let group: String
    let dependencies: [String]
    /// Where it lies, from the root of the package.
    let path: String
    private let exclude: [String]
    private let sources: [String]

    /// What an import calls it.
    var module: String { name.replacing("-", with: "_") }

    /// No part of tests or examples.
    var isInSources: Bool { group.hasPrefix("Sources/") }

    /// A module of ours, in Swift, and no part of tests or examples.
    var isPartOfTheHouse: Bool {
        isInSources && (kind == .target || kind == .executableTarget) && (try? files())?.isEmpty == false
    }

    /// All targets, in the order in which they stand there. The file is read and not run: SwiftPM takes seconds to say
    /// the same, and locks its folder for it.
    static func all(in manifest: String = (try? ProjectFolder.text(of: "Package.swift")) ?? "") -> [PackageTarget] {
        let code = manifest.replacing(#/(?m)^\s*//.*$/#, with: "")
        let list = code[(code.firstRange(of: "let groups")?.upperBound ?? code.endIndex)...]
        let groups = list.matches(of: #/(?m)^ *"([\w/]+)": \[/#).map { ($0.range.lowerBound, String($0.1)) }
        return list.matches(of: #/\.(\w+)\(\s*name: "([^"]+)"/#).compactMap { match in
            guard let kind = Kind(rawValue: String(match.1)) else { return nil }
            let rest = declaration(from: match.range.lowerBound, in: list)
            let group = groups.last { $0.0 < match.range.lowerBound }?.1 ?? ""
            return PackageTarget(
                kind: kind, name: String(match.2), group: group, dependencies: words("dependencies", in: rest),
                path: rest.firstMatch(of: #/[ (]path: "([^"]+)"/#).map { String($0.1) } ?? "\(group)/\(match.2)",
                exclude: words("exclude", in: rest), sources: words("sources", in: rest))
        }
    }

    /// What its files import, of whatever package.
    func imports() throws -> Set<String> {
        let line =
            #/(?m)^\s*(?:@\w+ +)?(?:(?:public|package|internal|fileprivate|private) +)?import +(?:(?:struct|class|enum|protocol|func|var|let|typealias) +)?(\w+)/#
        return Set(
            try files().flatMap { try String(contentsOf: $0, encoding: .utf8).matches(of: line) }.map { String($0.1) })
    }

    /// Its Swift files.
    func files() throws -> [URL] {
        let folder = ProjectFolder.url.appendingPathComponent(path)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        func lies(_ name: String, in folders: [String]) -> Bool {
            folders.contains { name == $0 || name.hasPrefix($0 + "/") }
        }
        return names.filter { name in
            name.hasSuffix(".swift") && !lies(name, in: exclude) && (sources.isEmpty || lies(name, in: sources))
        }.map { folder.appendingPathComponent($0) }
    }

    /// Up to the bracket that closes it.
    private static func declaration(from start: Substring.Index, in list: Substring) -> Substring {
        var depth = 0
        for index in list[start...].indices {
            if list[index] == "(" { depth += 1 }
            if list[index] == ")" { depth -= 1 }
            if list[index] == ")", depth == 0 { return list[start...index] }
        }
        return list[start...]
    }

    /// The texts of the list that stands behind a label.
    private static func words(_ label: String, in declaration: Substring) -> [String] {
        // Not those of `resources` for `sources`.
        let begin = [" ", "("].compactMap { declaration.firstRange(of: "\($0)\(label): [")?.upperBound }.min()
        guard let begin else { return [] }
        let list = declaration[begin...].prefix { $0 != "]" }
        return list.matches(of: #/"([^"]+)"/#).map { String($0.1) }
    }
}
