internal import ServiceRuntime

extension Unicode.Scalar {
    /// Its width on a terminal: two columns for wide East Asian scripts and pictures, none if it joins the scalar
    /// before it.
    var displayWidth: Int {
        if value < 0x7f { return value < 0x20 ? 0 : 1 }
        switch properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if properties.isDefaultIgnorableCodePoint || isJoiningJamo { return 0 }
        return isWide ? 2 : 1
    }

    /// The vowels and final consonants of Korean syllables that are written in parts. They are drawn onto the first
    /// consonant.
    private var isJoiningJamo: Bool { (0x1160...0x11ff).contains(value) || (0xd7b0...0xd7ff).contains(value) }

    private var isWide: Bool {
        if value < 0x1100 { return false }
        // Half a flag takes one column, and two halves take two.
        if properties.isEmojiPresentation { return !(0x1f1e6...0x1f1ff).contains(value) }
        return Self.wideRanges.contains { $0.contains(value) }
    }

    /// Blocks that Unicode's East Asian Width calls wide or full-width. Pictures are not listed: they have a property
    /// for it.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115f,  // first consonants of Korean syllables
        0x2329...0x232a,  // angle brackets
        0x2630...0x2637, 0x268a...0x268f, 0x4dc0...0x4dff, 0x1d300...0x1d376,  // trigrams and their kin
        0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf,  // radicals, kana, letters in circles, ideographs
        0x4e00...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3,  // ideographs, Yi, Korean syllables
        0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f,  // their compatibility forms
        0xff01...0xff60, 0xffe0...0xffe6,  // full-width forms
        0x16fe0...0x18dff, 0x1aff0...0x1b2ff,  // Tangut, Khitan, old kana, Nüshu
        0x1f200...0x1f265, 0x20000...0x3fffd,  // ideographs in squares, rare ideographs
    ]
}

extension StringProtocol {
    /// Its width on a terminal, in columns.
    var displayWidth: Int {
        var width = 0
        var before: Unicode.Scalar?
        for scalar in unicodeScalars {
            // A skin tone only colours the picture before it.
            let joins = (0x1f3fb...0x1f3ff).contains(scalar.value) && before?.properties.isEmojiModifierBase == true
            if !joins { width += scalar.displayWidth }
            before = scalar
        }
        return width
    }
}

extension String {
    /// Which part of a text is kept if it is too wide.
    enum Keeping {
        case beginning, bothEnds
    }

    /// No wider than `width` columns: `…` replaces what does not fit.
    func cut(to width: Int, keeping: Keeping) -> String {
        guard displayWidth > width else { return self }
        guard width > 0 else { return "" }
        let tail = keeping == .bothEnds ? ending(within: (width - 1) / 3) : ""
        return beginning(within: width - 1 - tail.displayWidth) + "…" + tail
    }

    private func beginning(within width: Int) -> String {
        var rest = width
        return String(
            prefix { character in
                rest -= String(character).displayWidth
                return rest >= 0
            })
    }

    private func ending(within width: Int) -> String {
        var rest = width
        return String(
            reversed().prefix { character in
                rest -= String(character).displayWidth
                return rest >= 0
            }.reversed())
    }
}

extension String {
    /// Lines no wider than `width` columns, broken at blanks. Only a word that is wider itself is broken.
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

    /// The words. Those that must stay together are one word: `12.4 %`, `p < .01`.
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
            // A single character that is wider than a line is cut: nobody can read it.
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

/// A share drawn with block characters, precise to an eighth of a column.
enum Bar {
    /// No wider than `width`. A share above 0 is visible, and a share below 1 does not look full.
    static func blocks(_ share: Double, width: Int) -> String {
        guard share > 0, width > 0 else { return "" }
        let eighths = width * 8
        let filled =
            share >= 1 ? eighths : min(max(Int(saturating: (share * Double(eighths)).rounded()), 1), eighths - 1)
        let part = filled % 8
        return String(repeating: "█", count: filled / 8) + (part == 0 ? "" : String(parts[part - 1]))
    }

    private static let parts: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
}
