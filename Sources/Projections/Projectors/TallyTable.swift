/// A table of counts, declared once. From this follow its columns, the analysts' view of it with all comments, the key and
/// the values that `verify` compares, and how a cell is written in a report of differences.
///
/// A migration makes the table, since migrations are frozen; a test holds the two together.
package struct TallyTable: Sendable {
    /// In schema `projection`; the view has the same name in `analytics`.
    package let name: String
    /// What names a row beside app, day and shard: up to four.
    package let keys: [Key]
    /// What the table counts, and what the view makes of it, in the view's order.
    package let columns: [Column]
    package let view: View
    /// The same from raw events, in SQL.
    package let recount: Recounting

    package init(_ name: String, keys: [Key], columns: [Column], view: View, recount: Recounting) {
        precondition(keys.count <= 4, "a cell has up to four keys of its own")
        self.name = name
        self.keys = keys
        self.columns = columns
        self.view = view
        self.recount = recount
        counts = columns.compactMap(\.stored)
    }

    /// Whether analysts have a view of its name.
    package var hasView: Bool { if case .none = view { false } else { true } }

    /// The columns that are stored, all of them bigint.
    package let counts: [String]

    package struct Key: Sendable {
        package let name: String
        package let kind: Kind
        package let meaning: String

        package enum Kind: Sendable {
            /// The id of a word of the log's dictionary, 0 for none.
            case word
            /// A code, by what each means, from 1 on; 0 for none.
            case code([String])
            case number
        }

        /// How wide the column is.
        package var type: String { if case .word = kind { "integer" } else { "smallint" } }

        package static func word(_ name: String, _ meaning: String) -> Key {
            Key(name: name, kind: .word, meaning: meaning)
        }

        package static func code(_ name: String, _ words: [String], _ meaning: String) -> Key {
            Key(name: name, kind: .code(words), meaning: meaning)
        }

        package static func number(_ name: String, _ meaning: String) -> Key {
            Key(name: name, kind: .number, meaning: meaning)
        }
    }

    package struct Column: Sendable {
        package let name: String
        /// The count that is stored for it, of its own name unless the view sums it up; nil where all is derived.
        package let stored: String?
        /// How the view derives it from the sums `f`; nil for a count.
        package let sql: String?
        package let meaning: String

        package static func count(_ name: String, _ meaning: String) -> Column {
            Column(name: name, stored: name, sql: nil, meaning: meaning)
        }

        /// What is stored with the last page for which it counts, and shown with all pages before it, too.
        package static func fromTheEnd(_ name: String, of stored: String, _ meaning: String) -> Column {
            Column(name: name, stored: stored, sql: nil, meaning: meaning)
        }

        package static func derived(_ name: String, _ sql: String, _ meaning: String) -> Column {
            Column(name: name, stored: nil, sql: sql, meaning: meaning)
        }

        /// One sum by another, null where that is 0.
        package static func rate(_ name: String, _ part: String, _ whole: String, _ meaning: String) -> Column {
            .derived(name, "f.\(part) / nullif(f.\(whole), 0)", meaning)
        }
    }

    /// How analysts read the table.
    package enum View: Sendable {
        /// Only through views of something else.
        case none
        /// A row for each app, day and key with anything of the first count. `joining` is SQL for what derived columns need
        /// beside the sums.
        case sums(String, joining: String = "")
        /// A view written by hand, in `Migrations/sql`; it takes the comments of the columns that are declared here.
        case byHand
    }

    /// How a recount counts the same.
    package struct Recounting: Sendable {
        /// A SELECT that gives app, day, keys and counts from the tables of `RecountTables`.
        package let sql: String
        /// Which deliveries stand behind a row: a condition on the row of the delivery table `d` and the row `cell`.
        package let behind: String

        package init(_ sql: String, behind: String) {
            self.sql = sql
            self.behind = behind
        }
    }
}
