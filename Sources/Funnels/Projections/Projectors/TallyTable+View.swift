internal import EventLog
internal import Postgres

extension TallyTable {
    /// SQL that creates the analysts' view of this table, over the relation `counted` of its projector; nil unless the
    /// declaration alone defines it. The view sums app by app, so a query for one app and day can use the table's key,
    /// and partitions of generations that are not live are never read.
    package func viewDefinition(of projector: any Projector.Type) -> String? {
        guard case .sums(let meaning, let joining) = view else { return nil }
        let grouped = (["day"] + keys.map(\.name)).joined(separator: ", ")
        let sums = (counts + projector.counted.parts.flatMap(\.counts).map(\.name)).map { "sum(\($0)) AS \($0)" }
        return """
            -- From what \(projector.name) declares.
            CREATE OR REPLACE VIEW analytics.\(name) AS
            SELECT \(shown.joined(separator: ", "))
            FROM log.app AS app
            \(joining)
            CROSS JOIN LATERAL (
                SELECT \(grouped), \(sums.joined(separator: ", "))
                FROM counted.\(projector.name) AS c WHERE c.app = app.id
                GROUP BY \(grouped)
                HAVING sum(\(counts[0])) > 0
            ) AS f;

            COMMENT ON VIEW analytics.\(name) IS \(Statement.literal("\(meaning) \(EventViews.unreported)"));
            \(describing([("app", "Slug of the app"), ("day", day)]))\(comments)
            GRANT SELECT ON analytics.\(name) TO bellwether_analyst;
            """
    }

    /// The keys that are ids of words.
    var words: [String] { keys.compactMap { if case .word = $0.kind { $0.name } else { nil } } }

    private var shown: [String] {
        let named = keys.map { key in
            switch key.kind {
            case .code(let words):
                "coalesce(('{\(words.joined(separator: ","))}'::text[])[f.\(key.name)], '') AS \(key.name)"
            case .word, .number: "f.\(key.name)"
            }
        }
        return ["app.slug AS app", "f.day"] + named
            + columns.map { "\($0.sql ?? "f.\($0.name)::bigint") AS \($0.name)" }
    }

    /// SQL that comments the declared columns of the view.
    package var comments: String {
        describing(keys.map { ($0.name, $0.meaning) } + columns.map { ($0.name, $0.meaning) })
    }

    private func describing(_ columns: [(name: String, meaning: String)]) -> String {
        columns.map { "COMMENT ON COLUMN analytics.\(name).\($0.name) IS \(Statement.literal($0.meaning));\n" }.joined()
    }
}
