internal import ServiceRuntime

extension String {
    /// Markdown that shows a text from anywhere literally: the text cannot leave its cell, become markup, or mention
    /// anybody.
    ///
    /// Backslashes and entities are not enough: GitHub looks for `@names`, issue numbers and emoji codes after decoding
    /// them, and chats turn anything with a dot into a link. Nothing looks inside code, so each word with a suspicious
    /// character becomes code.
    init(markdown text: String) {
        let start = text.drop { $0 == " " }
        let trimmed = start.lastIndex { $0 != " " }.map { String(start[...$0]) } ?? ""
        let safe = String(printable: trimmed).split(separator: " ", omittingEmptySubsequences: false).enumerated()
            .map { index, word in String(word).markdownWord(isFirst: index == 0) }.joined(separator: " ")
        // Left to right inside too: a caption continues after the name at its beginning.
        self = text.hasRightToLeft ? "\u{2066}\(safe)\u{2069}" : safe
    }

    private func markdownWord(isFirst: Bool) -> String {
        if isEmpty { return self }
        // A mark that stands alone has a meaning only at the beginning of a line.
        if ["<", "&"].contains(self) { return self }
        if [">", "*", "+", "-", "=", "_", "~"].contains(self) { return isFirst ? "\\" + self : self }
        // The punctuation of a sentence stays outside the code.
        let opening = prefix { "(".contains($0) }
        let rest = dropFirst(opening.count)
        let closing = String(rest.reversed().prefix { ".,:;!?)".contains($0) }.reversed())
        let core = String(rest.dropLast(closing.count))
        if core.isPlainWord { return isFirst && isListNumber ? core + "\\" + closing : self }
        return opening + core.markdownCode + closing
    }

    /// `1.` and `1)` begin a list.
    private var isListNumber: Bool {
        guard let last, ".)".contains(last) else { return false }
        return dropLast().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private var markdownCode: String {
        // Readers disagree about backticks and pipes inside code, and about a backslash at its end.
        if !contains(where: { "`|".contains($0) }), last != "\\" { return "`\(self)`" }
        let entities = unicodeScalars.map { scalar in
            scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
                ? "&#\(scalar.value);"
                : String(scalar)
        }
        return "<code>\(entities.joined())</code>"
    }

    /// Whether no reader of Markdown, nor of what it becomes, gives this word a meaning.
    private var isPlainWord: Bool {
        let scalars = Array(unicodeScalars)
        // A row of dashes would be a rule.
        if !scalars.isEmpty, scalars.allSatisfy({ "-=+".unicodeScalars.contains($0) }) { return false }
        for (index, scalar) in scalars.enumerated() where scalar.isASCII {
            let before = index > 0 ? scalars[index - 1] : " "
            let after = index + 1 < scalars.count ? scalars[index + 1] : " "
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", " ", "%", "'", "\"", ",", ";", "(", ")", "+", "-", "=", "?", "!":
                break
            case "/": if before == "/" || after == "/" { return false }
            // `4.2.0`, but not `example.com`.
            case "." where !after.properties.isAlphabetic: break
            // `09:30`, but not `:100:`.
            case ":" where ("0"..."9").contains(before) && ("0"..."9").contains(after): break
            default: return false
            }
        }
        let small = lowercased()
        return !small.hasPrefix("www.") && !small.hasPrefix("gh-") && !isCommitLike
    }

    /// What GitHub may take for the hash of a commit.
    private var isCommitLike: Bool {
        (7...40).contains(utf8.count) && contains(where: \.isLetter)
            && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    }
}
