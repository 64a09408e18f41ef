/// A table in Markdown that is one for who reads its source, too.
struct MarkdownTable {
    enum Alignment {
        case left, right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    /// A cell for each column, as Markdown.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    var text: String {
        let widths = alignments.indices.map { index in
            // A monster of a name does not push all other rows apart.
            max(3, rows.map { $0[index].displayWidth }.filter { $0 <= 48 }.max() ?? 0)
        }
        let rule = zip(alignments, widths).map { alignment, width in
            let dashes = String(repeating: "-", count: width - 1)
            return alignment == .right ? dashes + ":" : "-" + dashes
        }
        let padded = rows.map { row in
            row.indices.map { index in
                let blanks = String(repeating: " ", count: max(0, widths[index] - row[index].displayWidth))
                return alignments[index] == .right ? blanks + row[index] : row[index] + blanks
            }
        }
        return ([padded[0], rule] + padded.dropFirst()).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }
}
