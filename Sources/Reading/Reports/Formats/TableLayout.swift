/// The positions and widths of the columns of a table, so that it fits the terminal.
struct TableLayout {
    struct Column {
        var kind: Table.Column.Kind
        /// From the left edge of the table.
        var start = 0
        var width: Int
        /// The width of the text. In a bar column the bar follows it.
        var textWidth: Int
        /// The width of a full bar.
        var barWidth: Int
        /// The title, line by line.
        var title: [String]
    }

    private(set) var columns: [Column]

    var width: Int { columns.last.map { $0.start + $0.width } ?? 0 }
    var titleLines: Int { columns.map(\.title.count).max() ?? 0 }

    /// The most generous layout that is no wider than `room`; nil if none is.
    init?(_ needs: [TableColumnNeeds], room: Int) {
        for spacing in Spacing.all {
            self.init(needs, room, spacing)
            if width <= room { return }
        }
        return nil
    }

    private init(_ needs: [TableColumnNeeds], _ room: Int, _ spacing: Spacing) {
        columns = needs.map { Column($0, spacing) }
        let gaps = spacing.gap * (columns.count - 1)
        let names = columns.indices.filter { columns[$0].kind == .name }
        let figures = columns.filter { $0.kind != .name }.reduce(0) { $0 + $1.width }
        let least = names.reduce(0) { $0 + min(columns[$1].width, spacing.leastName) }
        // The widest names are cut first, and only as far as necessary.
        let limit = max(least, room - gaps - figures)
        var widest = names.map { columns[$0].width }.max() ?? 0
        while names.reduce(0, { $0 + min(columns[$1].width, widest) }) > limit { widest -= 1 }
        for index in names { columns[index].narrow(to: widest) }
        for index in columns.indices.dropFirst() {
            columns[index].start = columns[index - 1].start + columns[index - 1].width + spacing.gap
        }
    }

    /// How much space a layout uses.
    fileprivate struct Spacing {
        var gap: Int
        var bar: Int
        var foldsTitles: Bool
        var leastName: Int

        /// The most generous first. Bars are shortened before names are cut, but not to nothing.
        static let all =
            [
                Spacing(gap: 3, bar: 24, foldsTitles: false, leastName: .max),
                Spacing(gap: 3, bar: 16, foldsTitles: false, leastName: .max),
                Spacing(gap: 2, bar: 16, foldsTitles: false, leastName: .max),
                Spacing(gap: 3, bar: 16, foldsTitles: true, leastName: .max),
            ]
            + [(28, 16), (28, 10), (28, 6), (20, 10), (20, 6), (14, 6), (8, 4), (8, 0)].map { name, bar in
                Spacing(gap: 2, bar: bar, foldsTitles: true, leastName: name)
            }
    }
}

extension TableLayout.Column {
    fileprivate init(_ needs: TableColumnNeeds, _ spacing: TableLayout.Spacing) {
        kind = needs.kind
        textWidth = needs.textWidth
        barWidth = needs.greatestShare == nil ? 0 : spacing.bar
        // If all shares are small, the space that longer bars would need is not reserved.
        let longest = Bar.blocks(needs.greatestShare ?? 0, width: barWidth).count
        let body = longest == 0 ? textWidth : textWidth + 1 + longest
        width = max(body, spacing.foldsTitles ? needs.foldedTitleWidth : needs.titleWidth)
        title = needs.titleWidth <= width ? [needs.title] : needs.title.wrapped(to: width)
        if barWidth == 0 { textWidth = width }
    }

    fileprivate mutating func narrow(to width: Int) {
        guard self.width > width else { return }
        (self.width, textWidth) = (width, width)
        title = title.map { $0.cut(to: width, keeping: .beginning) }
    }
}

/// How wide a column has to be. It is measured once for all layouts that are tried.
struct TableColumnNeeds {
    var kind: Table.Column.Kind
    var title: String
    var titleWidth: Int
    /// The width of the title in two lines. More lines would make the head too tall.
    var foldedTitleWidth: Int
    /// The width of the widest cell.
    var textWidth: Int
    /// The share with the longest bar; nil if no bar is drawn.
    var greatestShare: Double?

    init(_ column: Table.Column, _ cells: [Table.Cell]) {
        kind = column.kind
        title = column.title
        let words = title.split(separator: " ").map(\.displayWidth)
        titleWidth = title.displayWidth
        foldedTitleWidth =
            words.indices.map { index in
                max(Self.width(of: words[...index]), Self.width(of: words[(index + 1)...]))
            }.min() ?? 0
        textWidth = cells.map(\.text.displayWidth).max() ?? 0
        greatestShare = kind == .bar ? cells.compactMap(\.share).max() : nil
    }

    private static func width(of words: ArraySlice<Int>) -> Int { words.reduce(max(words.count - 1, 0), +) }
}
