internal import EventLog
internal import Postgres
internal import Values

/// A row of a table of the fold. Its columns are declared once, in `columns`: their names, their values, when they are
/// NULL, and how SQL opens them.
protocol StoredRow {
    /// Puts one column after another.
    static func columns<Sink: RowSink>(_ row: inout Sink) where Sink.Row == Self
}

/// What the columns of a row are put into: `RowCopy` takes their values, `RowLayout` what is declared of them. A sink
/// asks for no more than it takes.
protocol RowSink<Row> {
    associatedtype Row: StoredRow

    mutating func put<Value: CopyField>(
        _ name: StaticString, _ declaration: @autoclosure () -> RowLayout.Declaration, _ value: (Row) -> Value?)

    /// A number of so many bits in the next column that `packed` puts, above those put before. SQL opens 0 as NULL.
    mutating func bits(
        _ count: Int16, _ name: StaticString, _ meaning: @autoclosure () -> Recount.Meaning, _ value: (Row) -> Int16)

    mutating func packed<Value: CopyField & FixedWidthInteger>(_ name: StaticString, as _: Value.Type)
}

extension RowSink {
    /// A column as it is; NULL stands for nothing.
    @inline(__always)
    mutating func put<Value: CopyField>(
        _ name: StaticString, _ meaning: @autoclosure () -> Recount.Meaning = .plain,
        _ role: RowLayout.Role = .fact, _ value: (Row) -> Value?
    ) {
        put(name, RowLayout.Declaration(meaning: meaning(), role: role), value)
    }

    /// The id of a word, NULL for none.
    @inline(__always)
    mutating func word(_ name: StaticString, _ value: (Row) -> Int32) {
        put(name, RowLayout.Declaration(meaning: .word)) { row in
            let id = value(row)
            return id == 0 ? nil : id
        }
    }

    /// A number that is mostly the same, then NULL.
    @inline(__always)
    mutating func number<Value: CopyField & FixedWidthInteger>(
        _ name: StaticString, mostly absent: Value, _ value: (Row) -> Value
    ) {
        put(name, RowLayout.Declaration(absent: Int(absent))) { row in
            let number = value(row)
            return number == absent ? nil : number
        }
    }

    /// A time, NULL where it is the time of the column `known`. With a `condition`, SQL for when there is a time at all.
    @inline(__always)
    mutating func time(
        _ name: StaticString, _ role: RowLayout.Role = .fact, or known: StaticString,
        _ knownTime: (Row) -> Timestamp?, where condition: @autoclosure () -> String? = nil,
        _ value: (Row) -> Timestamp?
    ) {
        put(name, RowLayout.Declaration(meaning: .time, role: role, known: known, condition: condition())) { row in
            let time = value(row)
            return time == knownTime(row) ? nil : time
        }
    }
}

/// What is declared of the columns of a row.
package struct RowLayout: Sendable {
    /// What a column is for: it names its row, it says something about it, or it is for the fold alone.
    package enum Role: Sendable { case name, fact, own }

    struct Declaration: Sendable {
        var meaning = Recount.Meaning.plain
        var role = Role.fact
        /// The column that says the same if this one is NULL.
        var known: StaticString?
        /// SQL for when one of the two says it, if not always.
        var condition: String?
        /// What NULL stands for.
        var absent: Int?
    }

    /// A column as SQL opens it.
    private struct Opened: Sendable {
        let sql: String
        /// Without the condition.
        let value: String
        let column: Recount.Column
        let role: Role
    }

    /// The stored columns, in the order in which they are written.
    package fileprivate(set) var stored: [String] = []
    /// Those that share the bits of one column, each with its lowest bit.
    package fileprivate(set) var packed: [(name: String, bit: Int32)] = []
    private var opened: [Opened] = []
    /// Of the next packed column: each number with its first bit.
    private var waiting: [(first: Int16, count: Int16, name: StaticString, meaning: Recount.Meaning)] = []

    /// The columns that name a row, and those that say something about it, as `verify` compares them.
    var names: [Recount.Column] { opened.filter { $0.role == .name }.map(\.column) }
    var facts: [Recount.Column] { opened.filter { $0.role == .fact }.map(\.column) }
    var compared: [Recount.Column] { names + facts }

    /// SQL for all columns of a row `d`, with what they leave out.
    var all: String { sql(opened) }

    /// SQL for some of them.
    func opened(_ names: String...) -> String { sql(opened.filter { names.contains($0.column.name) }) }

    private func sql(_ columns: [Opened]) -> String {
        columns.map { "\($0.sql) AS \(Recount.quoted($0.column.name))" }.joined(separator: ",\n    ")
    }

    /// The opened rows of all tables of a parent, as a view for other views and for an owner in psql.
    func view(of parent: String, and more: String = "", _ comment: String) -> String {
        """
        -- Why: rows of projection.\(parent) are packed. This opens them: a column for each fact, words and codes as their numbers.
        CREATE OR REPLACE VIEW projection.opened_\(parent) AS
        SELECT
            \(all)\(more)
        FROM projection.\(parent) AS d
        WHERE \(ClusterMap.isShown("d.shard"));

        COMMENT ON VIEW projection.opened_\(parent) IS '\(comment)';
        -- The schema's default gives more, which only its tables need.
        REVOKE INSERT, UPDATE, DELETE ON projection.opened_\(parent) FROM bellwether_projector;

        """
    }

    static func of<Row: StoredRow>(_: Row.Type) -> RowLayout {
        var reader = Reader<Row>()
        Row.columns(&reader)
        return reader.layout
    }

    /// Takes the declarations of all columns, and the value of none.
    private struct Reader<Row: StoredRow>: RowSink {
        var layout = RowLayout()

        mutating func put<Value: CopyField>(
            _ name: StaticString, _ declaration: @autoclosure () -> Declaration, _: (Row) -> Value?
        ) {
            let (name, declaration) = ("\(name)", declaration())
            var value = "d.\(Recount.quoted(name))"
            if let known = declaration.known, let other = layout.opened.first(where: { $0.column.name == "\(known)" }) {
                value = "coalesce(\(value), \(other.value))"
            }
            layout.stored.append(name)
            layout.opened.append(
                Opened(
                    sql: declaration.condition.map { "CASE WHEN \($0) THEN \(value) END" } ?? value, value: value,
                    column: Recount.Column(name, declaration.meaning, absent: declaration.absent),
                    role: declaration.role))
        }

        mutating func bits(
            _ count: Int16, _ name: StaticString, _ meaning: @autoclosure () -> Recount.Meaning, _: (Row) -> Int16
        ) {
            let first = layout.waiting.last.map { $0.first + $0.count } ?? 0
            layout.waiting.append((first, count, name, meaning()))
        }

        mutating func packed<Value: CopyField & FixedWidthInteger>(_ column: StaticString, as _: Value.Type) {
            layout.stored.append("\(column)")
            for (first, count, name, meaning) in layout.waiting {
                let number = "d.\(column) >> \(first) & \((1 << count) - 1)"
                let sql = if case .flags = meaning { number } else { "nullif(\(number), 0)::smallint" }
                layout.packed.append(("\(name)", 1 << Int32(first)))
                layout.opened.append(
                    Opened(sql: sql, value: sql, column: Recount.Column("\(name)", meaning), role: .fact))
            }
            layout.waiting = []
        }
    }
}

/// A row on its way into a table.
private struct RowCopy<Row: StoredRow>: RowSink {
    var rows: CopyRows
    let row: Row
    private var bits: Int32 = 0
    private var bitCount: Int32 = 0

    init(_ row: Row, to rows: consuming CopyRows) { (self.rows, self.row) = (rows, row) }

    @inline(__always)
    mutating func put<Value: CopyField>(
        _: StaticString, _: @autoclosure () -> RowLayout.Declaration, _ value: (Row) -> Value?
    ) {
        if let value = value(row) { value.append(to: &rows) } else { rows.appendNull() }
    }

    @inline(__always)
    mutating func bits(
        _ count: Int16, _: StaticString, _: @autoclosure () -> Recount.Meaning, _ value: (Row) -> Int16
    ) {
        bits |= Int32(value(row)) << bitCount
        bitCount += Int32(count)
    }

    @inline(__always)
    mutating func packed<Value: CopyField & FixedWidthInteger>(_: StaticString, as _: Value.Type) {
        Value(truncatingIfNeeded: bits).append(to: &rows)
        (bits, bitCount) = (0, 0)
    }
}

extension CopyRows {
    mutating func append<Row: StoredRow>(row: Row) {
        beginRow()
        // The memory goes there and back, since a second owner would make each write a copy of it.
        var copy = RowCopy(row, to: consume self)
        Row.columns(&copy)
        self = copy.rows
    }
}

/// What can be a value of a row. Each type calls the method that `CopyRows` has for it alone.
protocol CopyField { func append(to rows: inout CopyRows) }

extension Int16: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension Int32: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension Int64: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension Timestamp: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension CivilDate: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension UUID: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension String: CopyField { func append(to rows: inout CopyRows) { rows.append(self) } }
extension [UInt8]: CopyField { func append(to rows: inout CopyRows) { rows.append(bytes: self) } }

extension Connection {
    /// Deletes rows of a table, and writes others. The transaction has read those rows, and has locked their shard.
    mutating func replace(
        _ places: [RowPlace], in table: String, _ layout: RowLayout, count: Int, _ write: (inout CopyRows) -> Void
    ) throws(PostgresError) {
        if !places.isEmpty {
            let deleted = try queryPrepared(
                "DELETE FROM projection.\(identifier: table) WHERE ctid = ANY (\(places))"
            ).affected
            guard deleted == places.count else {
                throw .decoding("\(deleted) of \(places.count) rows of \(table) to be changed exist")
            }
        }
        guard count > 0 else { return }
        var rows = CopyRows(columns: layout.stored.count, capacity: 256 * count)
        write(&rows)
        let list = layout.stored.map(Statement.quoted).joined(separator: ", ")
        try copyIn("COPY projection.\(Statement.quoted(table)) (\(list)) FROM STDIN (FORMAT binary)", rows)
    }
}
