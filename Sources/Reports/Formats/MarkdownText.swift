internal import ServiceRuntime

extension String {
    /// A text from anywhere as Markdown shows it literally: it cannot leave its cell, become markup, or call anybody.
    ///
    /// Backslashes and entities are not enough: GitHub looks for `@names`, issue numbers and emoji codes after they are
    /// undone, and chats make links of anything with a dot. Nobody looks inside code, so each word with a suspicious
    /// character becomes code, as befits an identifier.
    init(markdown text: String) {
        let start = text.drop { $0 == " " }
        let trimmed = start.lastIndex { $0 != " " }.map { String(start[...$0]) } ?? ""
        let safe = String(printable: trimmed).split(separator: " ", omittingEmptySubsequences: false).enumerated()
            .map { place, word in String(word).markdownWord(isFirst: place == 0) }.joined(separator: " ")
        // From left to right inside, too: a caption goes on after the name that it begins with.
        self = text.hasRightToLeft ? "\u{2066}\(safe)\u{2069}" : safe
    }

    private func markdownWord(isFirst: Bool) -> String {
        if isEmpty { return self }
        // A mark that stands alone says something only at the beginning of a line.
        if ["<", "&"].contains(self) { return self }
        if [">", "*", "+", "-", "=", "_", "~"].contains(self) { return isFirst ? "\\" + self : self }
        // What a sentence has around its words stays outside.
        let opening = prefix { "(".contains($0) }
        let rest = dropFirst(opening.count)
        let closing = String(rest.reversed().prefix { ".,:;!?)".contains($0) }.reversed())
        let core = String(rest.dropLast(closing.count))
        if core.isPlainWord { return isFirst && isListNumber ? core + "\\" + closing : self }
        return opening + core.markdownCode + closing
    }

    /// `1.` begins a list, `1)` too.
    private var isListNumber: Bool {
        guard let last, ".)".contains(last) else { return false }
        return dropLast().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private var markdownCode: String {
        // Backticks and pipes inside, and a backslash at the end, are not read alike everywhere.
        if !contains(where: { "`|".contains($0) }), last != "\\" { return "`\(self)`" }
        let entities = unicodeScalars.map { scalar in
            scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
                ? "&#\(scalar.value);"
                : String(scalar)
        }
        return "<code>\(entities.joined())</code>"
    }

    /// Nothing that reads Markdown, or what became of it, makes anything of such a word.
    private var isPlainWord: Bool {
        let scalars = Array(unicodeScalars)
        // A row of dashes is a rule.
        if !scalars.isEmpty, scalars.allSatisfy({ "-=+".unicodeScalars.contains($0) }) { return false }
        for (place, scalar) in scalars.enumerated() where scalar.isASCII {
            let before = place > 0 ? scalars[place - 1] : " "
            let after = place + 1 < scalars.count ? scalars[place + 1] : " "
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
