import Foundation
import ProjectFolder

/// Text in a committed file that follows from a declaration: the whole file, or what is between a line that says so and
/// one that ends it.
package struct GeneratedRegion: Sendable, CustomStringConvertible {
    /// From the root of the package.
    package let path: String
    /// What makes a comment of a line there; nil if all of the file is generated.
    let comment: (begin: String, end: String)?
    /// What it follows from.
    let source: String
    let text: @Sendable () -> String

    package init(
        path: String, comment: (begin: String, end: String)?, from source: String = "the catalogue",
        _ text: @escaping @Sendable () -> String
    ) {
        (self.path, self.comment, self.source, self.text) = (path, comment, source, text)
    }

    package static let all = [
        GeneratedRegion(path: "Sources/Intake/Ingestion/openapi.yaml", comment: ("    # ", "")) { OpenAPIEvents.text },
        GeneratedRegion(path: "Docs/API.md", comment: ("<!-- ", " -->")) { APITables.text },
        GeneratedRegion(path: "Sources/Intake/Ingestion/schema.json", comment: nil) { EventSchema.text },
        GeneratedRegion(path: "Docs/schema.json", comment: nil) { EventSchema.text },
    ]

    package var description: String { path }

    private var file: URL { ProjectFolder.url.appendingPathComponent(path) }

    private func lines(_ comment: (begin: String, end: String)) -> (first: String, last: String) {
        let (begin, end) = comment
        return (begin + "Generated from \(source): make generated" + end, begin + "End of what is generated" + end)
    }

    /// Whether the file says what it should.
    package func isCurrent() throws -> Bool {
        let (content, region) = try read()
        return content[region] == text()
    }

    /// Writes what it should say.
    package func write() throws {
        var (content, region) = try read()
        content.replaceSubrange(region, with: text())
        try content.write(to: file, atomically: true, encoding: .utf8)
    }

    private func read() throws -> (String, Range<String.Index>) {
        let content = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        guard let lines = comment.map(lines) else { return (content, content.startIndex..<content.endIndex) }
        guard let first = content.range(of: lines.first + "\n"),
            let last = content.range(of: lines.last + "\n", range: first.upperBound..<content.endIndex)
        else { throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: path]) }
        return (content, first.upperBound..<last.lowerBound)
    }
}
