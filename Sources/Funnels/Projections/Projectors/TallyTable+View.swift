internal import EventLog
internal import Postgres

extension TallyTable {
    /// SQL that creates the analysts' view of this table; nil unless the declaration alone defines it. The view sums
    /// counts by id, app by app, before it looks up names. So a query for one app and day can use the table's key, and
    /// partitions of generations that are not live are never read.
    package func viewDefinition(of projector: any Projector.Type) -> String? {
        guard case .sums(let meaning, let joining, let soles) = view else { return nil }
        return """
            -- From what \(projector.name) declares.
            CREATE OR REPLACE VIEW analytics.\(name) AS
            SELECT \(shown.joined(separator: ", "))
            FROM log.app AS app
            \(joining)
            CROSS JOIN LATERAL (
                \(rows(of: projector, soles))
                GROUP BY \((["day"] + keys.map(\.name)).joined(separator: ", "))
                HAVING sum(\(counts[0])) > 0
            ) AS f
            \(words.map { "LEFT JOIN log.word AS \($0) ON \($0).id = f.\($0)" }.joined(separator: "\n"));

            COMMENT ON VIEW analytics.\(name) IS \(Statement.literal("\(meaning) \(EventViews.unreported)"));
            \(describing([("app", "Slug of the app"), ("day", day)]))\(comments)
            GRANT SELECT ON analytics.\(name) TO bellwether_analyst;
            """
    }

    /// SQL that creates the view of this table that hubs read in each cell: the sums of its rows that count, with words
    /// instead of ids, which every cell gives out by itself. The counts come last, since a view gets new columns at its
    /// end alone.
    package func cellView(of projector: any Projector.Type) -> String {
        let keys = self.keys.map { key in
            if case .word = key.kind { "coalesce(\(key.name).value, '') AS \(key.name)" } else { "f.\(key.name)" }
        }
        return """
            CREATE OR REPLACE VIEW cells.\(name) AS
            SELECT \((["app.id AS app", "f.day"] + keys).joined(separator: ", ")), 0 AS generation,
                \(counts.map { "f.\($0)::bigint AS \($0)" }.joined(separator: ", "))
            FROM log.app AS app
            CROSS JOIN LATERAL (
                \(rows(of: projector, nil))
                    AND \(ClusterMap.isShown("\(name).shard"))
                GROUP BY \((["day"] + self.keys.map(\.name)).joined(separator: ", "))
            ) AS f
            \(words.map { "LEFT JOIN log.word AS \($0) ON \($0).id = f.\($0)" }.joined(separator: "\n"));
            GRANT SELECT ON cells.\(name) TO bellwether_analyst;
            """
    }

    /// The beginning of a SELECT of sums: its columns and rows.
    private func rows(of projector: any Projector.Type, _ soles: String?) -> String {
        let keys = ["day"] + keys.map(\.name)
        guard let soles else {
            return """
                SELECT \((keys + sums).joined(separator: ", "))
                FROM projection.\(name)
                WHERE \(Self.isLive(name, of: projector.name))
                """
        }
        let closed = ["closed", "received_closed"]
        let owner = Projectors.all.first { $0.tables.contains { $0.name == soles } }?.name ?? projector.name
        return """
            SELECT \((keys + sums + closed.map { "sum(\($0)) AS \($0)" }).joined(separator: ", "))
            FROM (
                SELECT \((keys + counts + closed.map { "0::bigint AS \($0)" }).joined(separator: ", "))
                FROM projection.\(name)
                WHERE \(Self.isLive(name, of: projector.name))
                UNION ALL
                SELECT \((keys.map { "\(soles).\($0)" } + counts.map { _ in "0::bigint" } + ["sole", "received_sole"]).joined(separator: ", "))
                FROM projection.\(soles)
                JOIN registry.closing_button AS closing ON closing.app = \(soles).app AND closing.category = \(soles).category
                    AND closing.action_id = \(soles).action_id
                WHERE \(Self.isLive(soles, of: owner))
            ) AS part
            """
    }

    /// SQL: a row of the table is of the app at hand, and sealed or of the generation that is read.
    private static func isLive(_ table: String, of projector: String) -> String {
        """
        \(table).app = app.id
            AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = '\(projector)'))
        """
    }

    /// The keys that are ids of words.
    var words: [String] { keys.compactMap { if case .word = $0.kind { $0.name } else { nil } } }

    private var sums: [String] { counts.map { "sum(\($0)) AS \($0)" } }

    private var shown: [String] {
        let named = keys.map { key in
            switch key.kind {
            case .word: "coalesce(\(key.name).value, '') AS \(key.name)"
            case .code(let words):
                "coalesce(('{\(words.joined(separator: ","))}'::text[])[f.\(key.name)], '') AS \(key.name)"
            case .number: "f.\(key.name)"
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
