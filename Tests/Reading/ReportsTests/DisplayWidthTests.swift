import Testing

@testable import Reports

@Suite("The width of a text on a terminal")
struct DisplayWidthTests {
    @Test(
        "wide scripts and pictures take two, marks none",
        arguments: [
            ("", 0), ("plain", 5), ("naïve", 5), ("nai\u{308}ve", 5), ("日本語", 6), ("한국어", 6),
            ("\u{1112}\u{1161}\u{11ab}", 2), ("ｱｲｳ", 3), ("Ｗ", 2), ("שָׁלוֹם", 4), ("สวัสดี", 4), ("🛒 cart", 7),
            ("🇹🇭", 2), ("👍🏽", 2), ("█▏…–·", 5), ("\u{2800}", 1), ("≥ 1 €", 5),
        ] as [(String, Int)]) func width(text: String, columns: Int)
    {
        #expect(text.displayWidth == columns)
    }

    @Test("letters of all scripts are as wide as the C library says") func scripts() {
        TerminalColumns.withUnicode {
            for block in [
                0x20...0x10ff, 0x1200...0x22ff, 0x2500...0x25ff, 0x3041...0x3163, 0x4e00...0x9fff, 0xa000...0xd7a3,
            ] {
                let differing = block.filter { value in
                    guard let scalar = Unicode.Scalar(UInt32(value)),
                        scalar.properties.age.map({ $0.major < 13 }) == true,
                        scalar.properties.generalCategory != .format, scalar.properties.generalCategory != .control
                    else { return false }
                    return scalar.displayWidth != TerminalColumns.width(String(scalar))
                }
                #expect(differing.isEmpty)
            }
        }
    }

    @Test(
        "what is too wide gives way to an ellipsis, between characters",
        arguments: [
            ("abcdefghij", 10, "abcdefghij", "abcdefghij"), ("abcdefghij", 7, "abcdef…", "abcd…ij"),
            ("日本語日本語", 7, "日本語…", "日本…語"), ("日本語日本語", 6, "日本…", "日本…"), ("abc", 1, "…", "…"),
            ("abc", 0, "", ""), ("🇹🇭🇹🇭🇹🇭", 4, "🇹🇭…", "🇹🇭…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…", "e\u{301}…"),
        ]) func cut(text: String, width: Int, beginning: String, both: String)
    {
        #expect(text.cut(to: width, keeping: .beginning) == beginning)
        #expect(text.cut(to: width, keeping: .bothEnds) == both)
    }

    @Test(
        "prose is broken at blanks, a figure stays with its sign, and a word without end is broken where it must",
        arguments: [
            ("", 10, []), ("one two three", 7, ["one two", "three"]), ("about 12.4 % of", 10, ["about", "12.4 % of"]),
            ("so (p < .001).", 8, ["so", "(p", "<", ".001)."]), ("so (p < .001).", 11, ["so", "(p < .001)."]),
            ("a bcdefghijk", 4, ["a", "bcde", "fghi", "jk"]), ("日本語日本語 x", 5, ["日本", "語日", "本語", "x"]),
        ]) func wrapped(text: String, width: Int, lines: [String])
    {
        #expect(text.wrapped(to: width) == lines)
    }

    @Test(
        "a bar shows what is not nothing, and is full only for all",
        arguments: [
            (0, ""), (-1, ""), (.nan, ""), (0.0001, "▏"), (0.5, "██"), (0.53125, "██▏"), (0.999, "███▉"), (1, "████"),
            (2, "████"), (.infinity, "████"),
        ] as [(Double, String)]) func bar(share: Double, blocks: String)
    {
        #expect(Bar.blocks(share, width: 4) == blocks)
    }
}
