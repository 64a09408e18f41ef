/// How one table of a projector is counted anew from raw events, in nothing but SQL, and how its cells are told to people.
///
/// A recount shares no line with the fold that it checks: it sees all events of a delivery at once and asks PostgreSQL
/// for orders, firsts and sums.
package struct Recount: Sendable {
    /// The projection's table, without its schema and number; its recount gives its columns, `tables` and `shard` aside.
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

    package init(
        table: String, projector: String? = nil, key: [Column], values: [Column], isSum: Bool = true, sql: String,
        behind: String
    ) {
        self.table = table
        self.projector = projector ?? table
        self.key = key
        self.values = values
        self.isSum = isSum
        self.sql = sql
        self.behind = behind
    }

    /// The table as the line with this number has it.
    func stored(in tables: Int32) -> String { "projection.\(Recount.quoted("\(table)_\(tables)"))" }
}

extension Recount {
    /// A column, and what its numbers mean.
    package struct Column: Sendable {
        package let name: String
        package let meaning: Meaning

        package init(_ name: String, _ meaning: Meaning = .plain) {
            self.name = name
            self.meaning = meaning
        }

        /// Counts by name.
        package static func counts(_ names: String...) -> [Column] { names.map { Column($0) } }
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
        /// A bit each, from the lowest on.
        case flags([String])
        /// A moment.
        case time
    }
}
