extension Table {
    /// Rows that people read; all of them are in JSON and CSV.
    static let mostRows = 15

    /// A row for each of a list, as many as people read.
    init<Row>(
        _ caption: String, columns: [Column], of list: [Row], most: Int = Table.mostRows, row: (Row) -> [Cell]
    ) {
        self.init(
            caption, columns: columns, rows: list.prefix(most).map(row), omitted: max(0, list.count - most))
    }
}
