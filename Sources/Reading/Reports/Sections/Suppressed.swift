internal import Postgres
internal import Telemetry

/// Deliveries of a category that came while the app was open and that it did not show.
struct Suppressed: Hashable, Sendable {
    var category: String
    var suppressed: Rate

    fileprivate var facts: [Fact] {
        [
            .count("delivered", suppressed.whole), .count("suppressed", suppressed.part),
            .number("suppressed_rate", suppressed.value),
        ]
    }
}

enum SuppressedSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let most = scope.bound.entries
        (report.suppressed, report.otherSuppressed) = try connection.query(
            """
            SELECT
                min(category COLLATE "C"), count(*) FILTER (WHERE place > \(most)), sum(suppressed)::bigint,
                sum(delivered)::bigint
            FROM (
                SELECT
                    category, sum(suppressed) AS suppressed, sum(delivered) AS delivered,
                    least(row_number() OVER (ORDER BY sum(suppressed) DESC, category COLLATE "C"), \(most) + 1) AS place
                FROM analytics.category_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
                GROUP BY category HAVING sum(suppressed) > 0
            ) AS ranked
            GROUP BY place ORDER BY place
            """
        ).listed(leftOut: 1) { row throws(PostgresError) in
            Suppressed(category: try row.get(0), suppressed: Rate(try row.get(2), of: try row.get(3)))
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.suppressed.isEmpty else { return nil }
        let listed = report.suppressed.reduce(0) { $0 + $1.suppressed.part }
        let all = listed + (report.otherSuppressed?.counts.suppressed.part ?? 0)
        let table = Table("Suppressed in the foreground", of: report.suppressed) { row in
            [
                .name("Category", row.category, else: CategoriesSection.none),
                .count("Suppressed", row.suppressed.part), .bar("Of deliveries", row.suppressed),
            ]
        }
        let words =
            "\(Wording.count(all, "delivery", "deliveries")) arrived while the app was open, and the app showed "
            + "neither a banner nor a list entry."
        return Page.Section(
            "Shown to nobody",
            [.sentence(words, .plain), .table(table)]
                + RestOfList.words(report.otherSuppressed, "category", "categories", \.suppressed.part))
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("suppressed", report.suppressed) {
            Entry(keys: [.text("category", $0.category)], facts: $0.facts)
        } + RestOfList.facts("other_suppressed", report.otherSuppressed) { $0.facts }
    }
}
