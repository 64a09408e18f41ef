internal import Foundation
import ProjectFolder

/// The SQL in `Docs/Analysts.md`.
package enum AnalystsGuide {
    /// All queries, in their order.
    package static func queries() throws -> [String] {
        let blocks = try ProjectFolder.text(of: "Docs/Analysts.md").components(separatedBy: "```sql\n").dropFirst()
        return blocks.compactMap { $0.components(separatedBy: "\n```").first }
    }

    /// What a dashboard puts in the place of its own words: an app, and a range of days as it writes one.
    package static func asADashboardAsks(_ query: String, of app: String, during range: String) -> String {
        query.replacing("$__timeFilter(day)", with: "day BETWEEN \(range)").replacing("{{app}}", with: "'\(app)'")
    }
}
