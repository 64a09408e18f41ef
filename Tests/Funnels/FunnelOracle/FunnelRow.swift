/// A row of a funnel, with the columns that the contract gives its view.
package protocol FunnelRow: Hashable, Sendable {
    /// The name of the view in schema `analytics`, where there is one.
    static var view: String { get }
    /// The name of the projection's table, mostly that of the view.
    static var table: String { get }
    /// What a query reads it from: the view, mostly.
    static var source: String { get }
    /// The columns that name the row, in the order in which rows are sorted.
    static var keyColumns: [Column<Self>] { get }
    /// The columns that say how much.
    static var numberColumns: [Column<Self>] { get }
    /// Whether a row adds up something, so that it stays when retention removes what it counts.
    static var isSum: Bool { get }
    /// The funnel of all deliveries, sorted by the key.
    static func rows(of deliveries: [Delivery]) -> [Self]
    /// The same for what also counts the days of installs.
    static func rows(of deliveries: [Delivery], _ days: [InstallDay]) -> [Self]
}

/// A column by name, and what a row holds in it.
package struct Column<Row> {
    package let name: String
    package let cell: (Row) -> Cell

    package init(_ name: String, _ cell: @escaping (Row) -> Cell) {
        self.name = name
        self.cell = cell
    }

    /// A count.
    package init(_ name: String, _ path: KeyPath<Row, Int>) {
        self.init(name) { .number(Int64($0[keyPath: path])) }
    }

    /// A sum.
    package init(_ name: String, _ path: KeyPath<Row, Int64>) {
        self.init(name) { .number($0[keyPath: path]) }
    }

    /// A word.
    package init(_ name: String, _ path: KeyPath<Row, Label>) {
        self.init(name) { .text($0[keyPath: path]) }
    }

    /// A yes or no.
    package init(_ name: String, _ path: KeyPath<Row, Bool>) {
        self.init(name) { .flag($0[keyPath: path]) }
    }

    /// The same column for a row that holds this one.
    package func within<Outer>(_ part: KeyPath<Outer, Row>) -> Column<Outer> {
        Column<Outer>(name) { cell($0[keyPath: part]) }
    }
}

extension FunnelRow {
    package static var table: String { view }
    package static var source: String { "analytics.\(view)" }
    package static var isSum: Bool { true }

    // A kind of row has one of the two.
    package static func rows(of _: [Delivery]) -> [Self] { [] }
    package static func rows(of deliveries: [Delivery], _: [InstallDay]) -> [Self] { rows(of: deliveries) }

    /// All columns, the key first.
    package static var columns: [Column<Self>] { keyColumns + numberColumns }
}

extension Sequence where Element: FunnelRow {
    /// By the key, column for column.
    func sortedByKey() -> [Element] {
        let columns = Element.keyColumns
        return map { row in (key: columns.map { $0.cell(row) }, row: row) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map(\.row)
    }
}
