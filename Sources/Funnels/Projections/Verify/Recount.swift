internal import Postgres

/// How to count one table of a projector again from raw events, in pure SQL, and how to show its cells to people.
///
/// A recount shares no code with the fold that it checks. It sees all events of a delivery at once and lets PostgreSQL
/// find orders, firsts and sums.
package struct Recount: Sendable {
    /// The projection's table, without schema and number. The recount has the same columns, except `generation` and
    /// `shard`.
    package let table: String
    /// The projector that the table belongs to.
    package let projector: String
    /// What names a row.
    package let key: [Column]
    /// What the row says.
    package let values: [Column]
    /// Whether each row is of a day. What is not is compared only where all days are.
    package var isOfDays: Bool { (key + values).contains { $0.name == "day" } }
    /// Whether the values are sums. Then a row of zeros means the same as no row.
    package let isSum: Bool
    /// A SELECT of key and values from the tables of `RecountTables`.
    package let sql: String
    /// SQL for the rows of a generation as the recount gives them; nil for a table of sums, whose rows are as they are.
    private let opened: (@Sendable (Int32) -> String)?
    /// Which deliveries belong to a row: a condition on the row of the delivery table `d` and the row `cell`.
    package let behind: String

    /// The recount of a table that its projector declares.
    init(_ table: TallyTable, of projector: any Projector.Type) {
        self.table = table.name
        self.projector = projector.name
        key = [Column("app", .app), Column("day")] + table.keys.map(Column.init)
        values = table.counts.map { Column($0) }
        isSum = true
        opened = nil
        sql = table.recount.sql
        behind = table.recount.behind
    }

    /// The recount of a table of the fold itself.
    init(
        table: String, projector: String, key: [Column], values: [Column],
        opened: @escaping @Sendable (Int32) -> String, sql: String, behind: String
    ) {
        self.table = table
        self.projector = projector
        self.key = key
        self.values = values
        isSum = false
        self.opened = opened
        self.sql = sql
        self.behind = behind
    }

    /// The recount of a table whose layout says what its columns are.
    init(
        table: String, projector: String, layout: RowLayout, opened: @escaping @Sendable (Int32) -> String, sql: String,
        behind: String
    ) {
        self.init(
            table: table, projector: projector, key: layout.names, values: layout.facts, opened: opened, sql: sql,
            behind: behind)
    }

    /// SQL for the rows that this generation has, each with its shard, with NULL replaced.
    func stored(in generation: Int32, where condition: String) -> String {
        let columns = (key + values).map { column in
            let name = Recount.quoted(column.name)
            return column.absent.map { "coalesce(\(name), \($0)) AS \(name)" } ?? name
        }
        let rows = opened?(generation) ?? "projection.\(Recount.quoted("\(table)_\(generation)"))"
        return "SELECT shard, \(columns.joined(separator: ", ")) FROM \(rows) AS stored_row WHERE \(condition)"
    }
}

extension Recount {
    /// A column, and what its numbers mean.
    package struct Column: Sendable {
        package let name: String
        package let meaning: Meaning
        /// What a recount gives where the table holds NULL; nil if it gives NULL, too, or there is no NULL.
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
        /// Its text can be read as it is.
        case plain
        /// The id of an app.
        case app
        /// The id of a word of the log's dictionary, 0 for none.
        case word
        /// A code, with the names of the codes from 1 on; 0 for none.
        case code([String])
        /// The first response to a delivery: the id of an action, -1 an opening, -2 a story's call to action, 0 for
        /// none.
        case response
        /// One bit for each name, the lowest first.
        case flags([String])
        case time
    }
}

/// Every table that `verify` recounts.
package enum Recounts {
    package static let all = all(of: Projectors.all)

    /// The recounts of these projectors. The tables of the fold come first, the deliveries before all, since every
    /// other differing cell shows which of its deliveries differ.
    package static func all(of projectors: [any Projector.Type]) -> [Recount] {
        [.delivery, .installDay, .goal]
            + projectors.flatMap { projector in projector.tables.map { Recount($0, of: projector) } }
    }

    package static func of(_ table: String) -> Recount? { all.first { $0.table == table } }
}

extension Recount.Column {
    /// SQL for the readable text of a value of this column; `value` is SQL for the value.
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

    /// Names from our own code as an array.
    fileprivate static func array(_ names: [String]) -> String {
        "ARRAY[\(names.map { "'\($0)'" }.joined(separator: ", "))]::text[]"
    }
}
