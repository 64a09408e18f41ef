/// How wide a column of a table has to be, measured once for all ways to lay it out.
struct TableColumnNeeds {
    var kind: Table.Column.Kind
    var title: String
    var titleWidth: Int
    /// Of the title in two lines; in more it would stand on tiptoe.
    var foldedTitleWidth: Int
    /// Of the widest cell.
    var textWidth: Int
    /// The share with the longest bar; nil where none is drawn.
    var greatestShare: Double?

    init(_ column: Table.Column, _ cells: [Table.Cell]) {
        kind = column.kind
        title = column.title
        let words = title.split(separator: " ").map(\.displayWidth)
        titleWidth = title.displayWidth
        foldedTitleWidth =
            words.indices.map { place in
                max(Self.width(of: words[...place]), Self.width(of: words[(place + 1)...]))
            }.min() ?? 0
        textWidth = cells.map(\.text.displayWidth).max() ?? 0
        greatestShare = kind == .bar ? cells.compactMap(\.share).max() : nil
    }

    private static func width(of words: ArraySlice<Int>) -> Int { words.reduce(max(words.count - 1, 0), +) }
}
