/// Declares a table of counts. Everything else is derived from this: its columns, the analysts' view with all comments,
/// the key and the values that `verify` compares, and how a report of differences names a cell.
///
/// The table itself is created in a migration, since migrations are frozen; a test compares the two.
package struct TallyTable: Sendable {
    /// In schema `projection`; the view has the same name in `analytics`.
    package let name: String
    /// The keys of a row besides app, day and shard: up to eight.
    package let keys: [Key]
    /// The stored counts and the columns that the view derives from them, in the order of the view.
    package let columns: [Column]
    package let view: View
    /// SQL that counts the same from raw events.
    package let recount: Recounting
    /// What its days are.
    let day: String

    /// The days of deliveries, unless it counts something else.
    package init(
        _ name: String, keys: [Key], columns: [Column], view: View, recount: Recounting,
        day: String = "Day of each delivery's first event in the time zone of the app"
    ) {
        precondition(keys.count <= Tally.Keys.scalarCount, "a cell has up to eight keys of its own")
        self.name = name
        self.keys = keys
        self.columns = columns
        self.view = view
        self.recount = recount
        self.day = day
        counts = columns.compactMap(\.stored)
    }

    /// Whether analysts have a view of this name.
    package var hasView: Bool { if case .none = view { false } else { true } }

    /// The stored columns, all of type bigint.
    package let counts: [String]

    package struct Key: Sendable {
        package let name: String
        package let kind: Kind
        package let meaning: String

        package enum Kind: Sendable {
            /// The id of a word in the log's dictionary; 0 for none.
            case word
            /// A code, with the names of the codes from 1 on; 0 for none.
            case code([String])
            case number
        }

        /// The SQL type of the column.
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
        /// The stored count behind it, which has the same name unless it is summed from the end; nil for a derived
        /// column.
        package let stored: String?
        /// SQL by which the view derives it from the sums `f`; nil for a count.
        package let sql: String?
        package let meaning: String

        package static func count(_ name: String, _ meaning: String) -> Column {
            Column(name: name, stored: name, sql: nil, meaning: meaning)
        }

        /// A count that is stored only with the last page it applies to, and shown with all pages before it, too.
        package static func fromTheEnd(_ name: String, of stored: String, _ meaning: String) -> Column {
            Column(name: name, stored: stored, sql: nil, meaning: meaning)
        }

        package static func derived(_ name: String, _ sql: String, _ meaning: String) -> Column {
            Column(name: name, stored: nil, sql: sql, meaning: meaning)
        }

        /// The quotient of two sums, to four places; null if the second one is 0.
        package static func rate(_ name: String, _ part: String, _ whole: String, _ meaning: String) -> Column {
            .derived(name, "round(f.\(part) / nullif(f.\(whole), 0), 4)", meaning)
        }
    }

    /// How analysts read the table.
    package enum View: Sendable {
        /// No view of its own; other views read it.
        case none
        /// A row for each app, day and key where the first count is not 0. `joining` is SQL for what derived columns
        /// need besides the sums, which are those of the projector's relation `counted`.
        case sums(String, joining: String = "")
        /// A view written by hand in `Migrations/sql`. Its columns get the comments that are declared here.
        case byHand
    }

    /// How `verify` counts the same independently.
    package struct Recounting: Sendable {
        /// A SELECT of app, day, keys and counts from the tables of `RecountTables`.
        package let sql: String
        /// SQL condition that a delivery `d` counts in the row `cell`.
        package let behind: String

        package init(_ sql: String, behind: String) {
            self.sql = sql
            self.behind = behind
        }
    }
}
