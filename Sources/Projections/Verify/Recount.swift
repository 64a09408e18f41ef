internal import Postgres

/// How one table of a projector is counted anew from raw events, in nothing but SQL, and how its cells are told to people.
///
/// A recount shares no line with the fold that it checks: it sees all events of a delivery at once and asks PostgreSQL
/// for orders, firsts and sums.
package struct Recount: Sendable {
    /// The projection's table, without its schema and number; its recount gives its columns, `generation` and `shard` aside.
    package let table: String
    /// Whose table it is.
    package let projector: String
    /// What names a row.
    package let key: [Column]
    /// What the row says.
    package let values: [Column]
    /// Whether the values are sums. A row of nothing but zeros then says as little as a row that is not there.
    package let isSum: Bool
    /// A SELECT that gives key and values from the tables of `RecountTables`.
    package let sql: String
    /// Which deliveries stand behind a row: a condition on the row of the delivery table `d` and the row `cell`.
    package let behind: String

    /// Of a table as its projector declares it.
    init(_ table: TallyTable, of projector: any Projector.Type) {
        self.table = table.name
        self.projector = projector.name
        key = [Column("app", .app), Column("day")] + table.keys.map(Column.init)
        values = table.counts.map { Column($0) }
        isSum = true
        sql = table.recount.sql
        behind = table.recount.behind
    }

    /// Of the deliveries themselves.
    init(
        table: String, projector: String, key: [Column], values: [Column], sql: String, behind: String
    ) {
        self.table = table
        self.projector = projector
        self.key = key
        self.values = values
        isSum = false
        self.sql = sql
        self.behind = behind
    }

    /// The rows that the generation with this number has of a shard, with what stands for NULL.
    func stored(in generation: Int32, shard: Int16) -> String {
        let columns = (key + values).map { column in
            let name = Recount.quoted(column.name)
            return column.absent.map { "coalesce(\(name), \($0)) AS \(name)" } ?? name
        }
        let rows = isSum ? "projection.\(Recount.quoted("\(table)_\(generation)"))" : DeliveryTable.opened(generation)
        return """
            (SELECT \(columns.joined(separator: ", ")) FROM \(rows) AS stored_row
            WHERE shard = \(shard))
            """
    }
}

extension Recount {
    /// A column, and what its numbers mean.
    package struct Column: Sendable {
        package let name: String
        package let meaning: Meaning
        /// What a recount gives where the table holds NULL; nil where it gives NULL, too, or there is none.
        let absent: Int?

        package init(_ name: String, _ meaning: Meaning = .plain, absent: Int? = nil) {
            self.name = name
            self.meaning = meaning
            self.absent =
                switch meaning {
                case .word, .code, .response: 0
                case .plain, .app, .flags, .time: absent
                }
        }

        fileprivate init(_ key: TallyTable.Key) {
            switch key.kind {
            case .word: self.init(key.name, .word)
            case .code(let words): self.init(key.name, .code(words))
            case .number: self.init(key.name)
            }
        }
    }

    package enum Meaning: Sendable {
        /// Its text is its meaning.
        case plain
        /// The id of an app.
        case app
        /// The id of a word of the log's dictionary, 0 for none.
        case word
        /// A code, by what each means, from 1 on; 0 for none.
        case code([String])
        /// The first response to a delivery: the id of an action, -1 an opening, -2 a story's call to action, 0 for none.
        case response
        /// A bit each, from the lowest on.
        case flags([String])
        /// A moment.
        case time
    }
}

/// Every table that `verify` recounts.
package enum Recounts {
    package static let all = all(of: Projectors.all)

    /// Those of these projectors. The deliveries first: what differs there is told with every other cell.
    package static func all(of projectors: [any Projector.Type]) -> [Recount] {
        [.delivery] + projectors.flatMap { projector in projector.tables.map { Recount($0, of: projector) } }
    }

    /// The recount of a table.
    package static func of(_ table: String) -> Recount? { all.first { $0.table == table } }
}

extension Recount.Column {
    /// SQL for the text by which people know a value of this column; `value` is SQL that gives one.
    package func text(of value: String) -> String {
        switch meaning {
        case .plain: "\(value)::text"
        case .app: "coalesce((SELECT slug FROM log.app WHERE id = \(value)), '#' || \(value))"
        case .response:
            """
            CASE \(value) WHEN -1 THEN 'opened' WHEN -2 THEN 'story_action' ELSE \(Recount.Column(name, .word).text(of: value)) END
            """
        case .word:
            """
            CASE WHEN \(value) = 0 THEN '' ELSE coalesce((SELECT word.value FROM log.word WHERE id = \(value)), '#' || \(value)) END
            """
        case .code(let names):
            """
            CASE WHEN \(value) = 0 THEN '' ELSE coalesce((\(Recount.array(names)))[\(value)], '#' || \(value)) END
            """
        case .flags(let names):
            """
            (SELECT coalesce(string_agg(coalesce(flag.name, '#' || bit), '+' ORDER BY bit), '') \
            FROM generate_series(0, 31) AS bit LEFT JOIN unnest(\(Recount.array(names))) WITH ORDINALITY AS flag (name, place) \
            ON flag.place = bit + 1 WHERE \(value) >> bit & 1 = 1)
            || CASE WHEN \(value) IS NULL THEN NULL ELSE '' END
            """
        case .time: #"to_char(\#(value) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#
        }
    }
}

extension Recount {
    static func quoted(_ name: String) -> String { Statement.quoted(name) }

    /// Our own names as an array.
    fileprivate static func array(_ names: [String]) -> String {
        "ARRAY[\(names.map { "'\($0)'" }.joined(separator: ", "))]::text[]"
    }
}
