internal import Postgres
internal import Telemetry

/// Deliveries of a category that came while the app was open and that it did not show.
struct Suppressed: Hashable, Sendable {
    var category: String
    var suppressed: Rate
}

enum SuppressedSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.suppressed = try connection.query(
            """
            SELECT category, sum(suppressed)::bigint, sum(delivered)::bigint FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY category HAVING sum(suppressed) > 0 ORDER BY sum(suppressed) DESC, category COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            Suppressed(category: try row.get(0), suppressed: Rate(try row.get(1), of: try row.get(2)))
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.suppressed.isEmpty else { return nil }
        let all = report.suppressed.reduce(0) { $0 + $1.suppressed.part }
        let table = Table("Suppressed in the foreground", of: report.suppressed) { row in
            [
                .name("Category", row.category, else: CategoriesSection.none),
                .count("Suppressed", row.suppressed.part), .bar("Of deliveries", row.suppressed),
            ]
        }
        let words =
            "\(Wording.count(all, "delivery", "deliveries")) arrived while the app was open, and the app showed neither a "
            + "banner nor a list entry."
        return Page.Section("Shown to nobody", [.sentence(words, .plain), .table(table)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("suppressed", report.suppressed) {
            Entry(
                keys: [.text("category", $0.category)],
                facts: [
                    .count("delivered", $0.suppressed.whole), .count("suppressed", $0.suppressed.part),
                    .number("suppressed_rate", $0.suppressed.value),
                ])
        }
    }
}
