internal import Accounts
internal import Postgres
internal import Values

extension RegistryCheck {
    /// Categories and buttons that were tapped and never registered, or are no longer registered.
    static func unregistered(_ app: App, on connection: inout Connection) throws(PostgresError) -> [Finding] {
        let rows = try connection.query(
            """
            WITH tapped AS (
                SELECT b.category, b.action_id, b.verdict, b.retired_at, a.day, a.taps,
                    EXISTS (
                        SELECT FROM registry.change AS c
                        WHERE c.app = \(app.id) AND c.category = b.category AND c.action_id = ''
                    ) AS has_category
                FROM analytics.category_buttons AS b
                JOIN analytics.category_actions AS a
                    ON a.app = b.app AND a.category = b.category AND a.action_id = b.action_id
                WHERE b.app = \(app.slug) AND a.app = \(app.slug) AND b.verdict IN ('unregistered', 'retired')
            )
            -- A category that is not known at all is told once, with its buttons.
            SELECT
                category, has_category, CASE WHEN has_category THEN action_id END AS action, verdict,
                array_agg(DISTINCT action_id ORDER BY action_id), sum(taps)::bigint, min(day),
                (
                    SELECT array_agg(DISTINCT r.category ORDER BY r.category) FROM registry.registered_button AS r
                    WHERE r.app = \(app.id) AND r.action_id = ANY (array_agg(tapped.action_id))
                        AND r.category <> tapped.category
                )
            FROM tapped
            WHERE verdict = 'unregistered' OR day > (retired_at AT TIME ZONE \(app.timeZone))::date
            GROUP BY category, has_category, action, verdict
            ORDER BY category, action
            """)
        var findings: [Finding] = []
        for row in rows {
            let category: String = try row.get(0)
            let hasCategory: Bool = try row.get(1)
            let isRetired = try row.get(3, as: String.self) == "retired"
            let actions: [String] = try row.get(4)
            let (taps, since): (Int64, CivilDate) = (try row.get(5), try row.get(6))
            let elsewhere: [String] = try row.optional(7) ?? []
            let named = names(actions)
            let hint = elsewhere.isEmpty ? "" : ". Registered in \(names(elsewhere))"
            if category.isEmpty {
                findings.append(
                    Finding(
                        .noCategory, category, count: taps, since: since,
                        "\(named) tapped on notifications whose events do not name the category"))
            } else if !hasCategory {
                findings.append(
                    Finding(
                        .unregisteredCategory, category, count: taps, since: since,
                        "the category was never registered; its buttons tapped: \(named)\(hint)"))
            } else {
                findings.append(
                    Finding(
                        isRetired ? .retired : .unregisteredAction, category, action: try row.get(2), count: taps,
                        since: since,
                        isRetired
                            ? "the button was retired and is tapped on later notifications"
                            : "the category never had this button\(hint)"))
            }
        }
        return findings
    }

    /// A few names in a sentence.
    static func names(_ names: [String]) -> String {
        let shown = names.prefix(5).map { String(shown: $0) }.joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
