internal import EventLog

/// What the relation `counted.NAME` of a projector has besides the sums of its first table.
///
/// Every database offers one such relation a funnel: sums by app (its id), day and the keys of the table, with words in
/// place of ids, of the generation that is read. The views of `analytics` are made of these. On a hub a relation of the
/// same name and columns has the rows of all cells, so the text of those views is the same there.
package struct Counted: Sendable {
    /// Other rows that are added up with those of the table.
    let parts: [Part]
    /// Counts by one more key, each in a column of its own, which is computed only if a query asks for it.
    let histograms: [Histogram]

    package init(_ parts: [Part] = [], histograms: [Histogram] = []) {
        self.parts = parts
        self.histograms = histograms
    }

    /// Rows of one source.
    package struct Part: Sendable {
        /// SQL: where the rows are, a relation with a column `app`.
        let source: String
        /// SQL conditions on a row `c`.
        let conditions: String
        /// The keys that the rows have. A word that they lack is '' there, and a number null.
        let keys: [TallyTable.Key]
        /// The counts that they have, each with its SQL. The others are 0 there.
        let counts: [(name: String, sql: String)]
        /// SQL for a WITH clause that the conditions refer to, or nothing.
        var with = ""

        /// Of a projector's table.
        static func table(
            _ name: String, of projector: String, keys: [TallyTable.Key], counts: [(name: String, sql: String)]
        ) -> Part {
            Part(source: "projection.\(name)", conditions: isRead("c", projector), keys: keys, counts: counts)
        }

        /// `closed` and `received_closed`: of the deliveries that a table of `SoleTaps` counts, those whose only
        /// response was a button that closes or declines, as it is registered now. The arrays let PostgreSQL find them
        /// by the index, and the hash table tells the pairs: as a join, it would take a few rows for one, and compare
        /// all with all.
        static func closed(by table: String, of projector: String, keys: [TallyTable.Key]) -> Part {
            Part(
                source: "projection.\(table)",
                conditions: """
                    c.category = ANY (ARRAY(SELECT category FROM closing))
                        AND c.action_id = ANY (ARRAY(SELECT action_id FROM closing))
                        AND ((c.category, c.action_id) IN (SELECT category, action_id FROM closing)) IS TRUE
                        AND \(isRead("c", projector))
                    """, keys: keys, counts: [("closed", "c.sole"), ("received_closed", "c.received_sole")],
                with: """
                    WITH closing AS MATERIALIZED (
                        SELECT b.category, b.action_id FROM registry.closing_button AS b WHERE b.app = app.id
                    )
                    """)
        }

        /// SQL: a row is sealed or of the generation that is read, and its shard is shown.
        static func isRead(_ row: String, _ projector: String) -> String {
            """
            (\(row).generation = 0
                    OR \(row).generation = (SELECT live.generation FROM projection.live WHERE live.name = '\(projector)'))
                AND \(ClusterMap.isShown("\(row).shard"))
            """
        }

        fileprivate func sql(_ all: [TallyTable.Key], _ names: [String]) -> String {
            let ofKeys = all.map { key in
                if keys.contains(where: { $0.name == key.name }) { return "c.\(key.name)" }
                if case .word = key.kind { return "0 AS \(key.name)" }
                return "NULL::\(key.type) AS \(key.name)"
            }
            let ofCounts = names.map { name in
                "\(counts.first { $0.name == name }?.sql ?? "0::bigint") AS \(name)"
            }
            return """
                (\(with) SELECT \((["c.day"] + ofKeys + ofCounts).joined(separator: ", "))
                FROM \(source) AS c
                WHERE c.app = app.id AND \(conditions))
                """
        }
    }

    /// Counts of one row by one more key, as jsonb: `{"key": count}`.
    package struct Histogram: Sendable {
        let column: String
        /// The table of the same projector that has the keys of the first one, and one more.
        let table: String
        let key: String
        let count: String

        fileprivate func sql(_ keys: [TallyTable.Key], of projector: String) -> String {
            let same = (["day"] + keys.map(\.name)).map { "t.\($0) = f.\($0)" }.joined(separator: " AND ")
            return """
                (
                    SELECT jsonb_object_agg(h.\(key), h.\(count))
                    FROM (
                        SELECT t.\(key), sum(t.\(count)) AS \(count)
                        FROM projection.\(table) AS t
                        WHERE t.app = app.id AND \(same)
                            AND \(Part.isRead("t", projector))
                        GROUP BY t.\(key)
                        HAVING sum(t.\(count)) > 0
                    ) AS h
                ) AS \(column)
                """
        }
    }
}

extension Projector {
    /// SQL that creates the relation `counted.NAME`. Rows are summed by id before names are looked up. New counts come
    /// last, since a view gets new columns at its end alone.
    package static var countedView: String {
        let own = Counted.Part.table(
            tables[0].name, of: name, keys: tables[0].keys, counts: tables[0].counts.map { ($0, "c.\($0)") })
        let parts = [own] + counted.parts
        var keys: [TallyTable.Key] = []
        for key in parts.flatMap(\.keys) where !keys.contains(where: { $0.name == key.name }) { keys.append(key) }
        var counts: [String] = []
        for (count, _) in parts.flatMap(\.counts) where !counts.contains(count) { counts.append(count) }
        let grouped = (["day"] + keys.map(\.name)).joined(separator: ", ")
        let words = keys.filter { if case .word = $0.kind { true } else { false } }.map(\.name)
        let shown =
            ["app.id AS app", "f.day"]
            + keys.map { words.contains($0.name) ? "coalesce(\($0.name).value, '') AS \($0.name)" : "f.\($0.name)" }
            + counted.histograms.map { $0.sql(tables[0].keys, of: name) }
            + counts.map { "f.\($0)::bigint AS \($0)" }
        return """
            -- Why: what \(name) has counted, for the views of analysts. Made of what the projector declares.
            CREATE OR REPLACE VIEW counted.\(name) AS
            SELECT \(shown.joined(separator: ", "))
            FROM log.app AS app
            CROSS JOIN LATERAL (
                SELECT \(grouped), \(counts.map { "sum(\($0)) AS \($0)" }.joined(separator: ", "))
                FROM (
                    \(parts.map { $0.sql(keys, counts) }.joined(separator: "\nUNION ALL\n"))
                ) AS part
                GROUP BY \(grouped)
            ) AS f
            \(words.map { "LEFT JOIN log.word AS \($0) ON \($0).id = f.\($0)" }.joined(separator: "\n"));
            SELECT cluster.offer('counted.\(name)');
            """
    }
}
