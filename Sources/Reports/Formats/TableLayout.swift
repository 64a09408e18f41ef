/// Where the columns of a table stand, so that it fits.
struct TableLayout {
    struct Column {
        var kind: Table.Column.Kind
        /// From the left edge of the table.
        var start = 0
        var width: Int
        /// Of the text; in a bar column the bar follows it.
        var textWidth: Int
        /// Of the bar of all.
        var barWidth: Int
        /// The title, in lines.
        var title: [String]
    }

    private(set) var columns: [Column]

    var width: Int { columns.last.map { $0.start + $0.width } ?? 0 }
    var titleLines: Int { columns.map(\.title.count).max() ?? 0 }

    /// The most generous one that is no wider than `room`; nil when none is.
    init?(_ needs: [TableColumnNeeds], room: Int) {
        for manner in Manner.all {
            self.init(needs, room, manner)
            if width <= room { return }
        }
        return nil
    }

    private init(_ needs: [TableColumnNeeds], _ room: Int, _ manner: Manner) {
        columns = needs.map { Column($0, manner) }
        let gaps = manner.gap * (columns.count - 1)
        let names = columns.indices.filter { columns[$0].kind == .name }
        let figures = columns.filter { $0.kind != .name }.reduce(0) { $0 + $1.width }
        let least = names.reduce(0) { $0 + min(columns[$1].width, manner.leastName) }
        // The widest names are cut first, and only as far as they must.
        let limit = max(least, room - gaps - figures)
        var widest = names.map { columns[$0].width }.max() ?? 0
        while names.reduce(0, { $0 + min(columns[$1].width, widest) }) > limit { widest -= 1 }
        for index in names { columns[index].narrow(to: widest) }
        for index in columns.indices.dropFirst() {
            columns[index].start = columns[index - 1].start + columns[index - 1].width + manner.gap
        }
    }

    /// How much a table indulges itself in.
    fileprivate struct Manner {
        var gap: Int
        var bar: Int
        var foldsTitles: Bool
        var leastName: Int

        /// The most generous first. Bars are shortened before names are cut, but not to nothing.
        static let all =
            [
                Manner(gap: 3, bar: 24, foldsTitles: false, leastName: .max),
                Manner(gap: 3, bar: 16, foldsTitles: false, leastName: .max),
                Manner(gap: 2, bar: 16, foldsTitles: false, leastName: .max),
                Manner(gap: 3, bar: 16, foldsTitles: true, leastName: .max),
            ]
            + [(28, 16), (28, 10), (28, 6), (20, 10), (20, 6), (14, 6), (8, 4), (8, 0)].map { name, bar in
                Manner(gap: 2, bar: bar, foldsTitles: true, leastName: name)
            }
    }
}

extension TableLayout.Column {
    fileprivate init(_ needs: TableColumnNeeds, _ manner: TableLayout.Manner) {
        kind = needs.kind
        textWidth = needs.textWidth
        barWidth = needs.greatestShare == nil ? 0 : manner.bar
        // Where shares are small, the room that bars of greater ones would take is not left empty.
        let longest = Bar.blocks(needs.greatestShare ?? 0, width: barWidth).count
        let body = longest == 0 ? textWidth : textWidth + 1 + longest
        width = max(body, manner.foldsTitles ? needs.foldedTitleWidth : needs.titleWidth)
        title = needs.titleWidth <= width ? [needs.title] : needs.title.wrapped(to: width)
        if barWidth == 0 { textWidth = width }
    }

    fileprivate mutating func narrow(to width: Int) {
        guard self.width > width else { return }
        (self.width, textWidth) = (width, width)
        title = title.map { $0.cut(to: width, keeping: .beginning) }
    }
}

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
