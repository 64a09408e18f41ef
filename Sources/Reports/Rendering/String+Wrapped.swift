extension String {
    /// In lines no wider than `width` columns, broken at blanks, and within a word only where it alone is wider.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in boundWords {
            if !line.isEmpty, line.displayWidth + 1 + word.displayWidth <= width {
                line += " " + word
                continue
            }
            if !line.isEmpty { lines.append(line) }
            var pieces = word.pieces(within: width)
            line = pieces.popLast() ?? ""
            lines += pieces
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// Words, with those in one that must not be torn apart: `12.4 %`, `p < .01`.
    private var boundWords: [String] {
        var words: [String] = []
        for word in split(separator: " ") {
            let clings = word.hasPrefix("%") || ["<", "="].contains(word)
            if let last = words.indices.last, clings || words[last].hasSuffix(" <") || words[last].hasSuffix(" =") {
                words[last] += " " + word
            } else {
                words.append(String(word))
            }
        }
        return words
    }

    private func pieces(within width: Int) -> [String] {
        if displayWidth <= width { return [self] }
        if contains(" ") { return split(separator: " ").flatMap { String($0).pieces(within: width) } }
        var pieces: [String] = []
        var (piece, columns) = ("", 0)
        for character in self {
            // A single character wider than a line is no text that anybody reads.
            let next = String(character).cut(to: width, keeping: .beginning)
            let nextColumns = next.displayWidth
            if !piece.isEmpty, columns + nextColumns > width {
                pieces.append(piece)
                (piece, columns) = ("", 0)
            }
            piece += next
            columns += nextColumns
        }
        return piece.isEmpty ? pieces : pieces + [piece]
    }
}
