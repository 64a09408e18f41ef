extension Unicode.Scalar {
    /// The columns of a terminal it takes: two where East Asian scripts and pictures are wide, none where it joins what
    /// stands before it.
    var displayWidth: Int {
        if value < 0x7f { return value < 0x20 ? 0 : 1 }
        switch properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if properties.isDefaultIgnorableCodePoint || isJoiningJamo { return 0 }
        return isWide ? 2 : 1
    }

    /// The vowels and last consonants of Korean syllables written in parts, drawn onto the first consonant.
    private var isJoiningJamo: Bool { (0x1160...0x11ff).contains(value) || (0xd7b0...0xd7ff).contains(value) }

    private var isWide: Bool {
        if value < 0x1100 { return false }
        // Half a flag is one column, and two halves are two.
        if properties.isEmojiPresentation { return !(0x1f1e6...0x1f1ff).contains(value) }
        return Self.wideRanges.contains { $0.contains(value) }
    }

    /// Blocks that Unicode's East Asian Width calls wide or full-width, without pictures: those say so themselves.
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
    /// The columns of a terminal it takes.
    var displayWidth: Int {
        var width = 0
        var before: Unicode.Scalar?
        for scalar in unicodeScalars {
            // A skin tone colours the picture before it.
            let joins = (0x1f3fb...0x1f3ff).contains(scalar.value) && before?.properties.isEmojiModifierBase == true
            if !joins { width += scalar.displayWidth }
            before = scalar
        }
        return width
    }
}
