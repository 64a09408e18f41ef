/// Writes block after block of YAML.
struct YAMLWriter {
    private(set) var text = ""
    private var level: Int

    private static let width = 120

    init(level: Int) { self.level = level }

    mutating func line(_ line: String) { text += String(repeating: "  ", count: level) + line + "\n" }

    /// A key, and what stands below it.
    mutating func nest(_ key: String, _ body: (inout YAMLWriter) -> Void) {
        line("\(key):")
        level += 1
        body(&self)
        level -= 1
        // Schemas stand apart.
        if level == 2 { text += "\n" }
    }

    /// A sentence, or several without the last period.
    mutating func describe(_ words: String) {
        let isPlain = !words.contains(": ") && !words.contains(" #") && !words.hasPrefix("`")
        let quoted = "'\(words.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")).'"
        let sentence = "description: \(isPlain ? "\(words)." : quoted)"
        guard 2 * level + sentence.count > YAMLWriter.width else { return line(sentence) }
        line("description: |")
        level += 1
        var row = ""
        for word in "\(words).".split(separator: " ") {
            if !row.isEmpty, 2 * level + row.count + word.count >= YAMLWriter.width {
                line(row)
                row = ""
            }
            row += (row.isEmpty ? "" : " ") + word
        }
        line(row)
        level -= 1
    }

    mutating func write<Bound>(_ type: String, _ range: ClosedRange<Bound>) {
        line("type: \(type)")
        line("minimum: \(range.lowerBound)")
        line("maximum: \(range.upperBound)")
    }
}
