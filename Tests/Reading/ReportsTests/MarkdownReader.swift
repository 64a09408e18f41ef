/// Reads Markdown as GitHub does, as far as our documents go: tables, and what stands inside a line.
struct MarkdownReader {
    /// A stretch of what a reader sees; code is what nobody looks into for names and links.
    struct Run: Equatable {
        var text: String
        var isCode: Bool
    }

    /// All tables, a row of cells each, the titles first and without the rule below them.
    static func tables(_ markdown: String) -> [[[[Run]]]] {
        var tables: [[[[Run]]]] = []
        var table: [[[Run]]] = []
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("|") {
                table.append(cells(line).map(runs))
            } else if !table.isEmpty {
                tables.append(table)
                table = []
            }
        }
        if !table.isEmpty { tables.append(table) }
        return tables.map { [$0[0]] + $0.dropFirst(2) }
    }

    /// A row is parted at every bar without a backslash before it, whatever stands around it.
    private static func cells(_ line: Substring) -> [String] {
        var cells = [""]
        var before: Character = " "
        for character in line.dropFirst() {
            if character == "|", before == "\\" {
                cells[cells.count - 1].removeLast()
                cells[cells.count - 1].append("|")
            } else if character == "|" {
                cells.append("")
            } else {
                cells[cells.count - 1].append(character)
            }
            before = character
        }
        return cells.dropLast().map { cell in
            let start = cell.drop { $0 == " " }
            return String(start.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// What a reader sees of a line.
    static func runs(_ line: String) -> [Run] {
        var runs: [Run] = []
        func add(_ text: String, isCode: Bool = false) {
            if runs.last?.isCode == isCode {
                runs[runs.count - 1].text += text
            } else {
                runs.append(Run(text: text, isCode: isCode))
            }
        }
        var rest = Substring(line)
        while let first = rest.first {
            if first == "\\", let next = rest.dropFirst().first, next.isASCII, next.isPunctuation || next.isSymbol {
                add(String(next))
                rest = rest.dropFirst(2)
            } else if first == "`" {
                let fence = rest.prefix { $0 == "`" }
                let inside = rest.dropFirst(fence.count)
                guard let end = inside.firstRange(of: fence) else {
                    add(String(fence))
                    rest = inside
                    continue
                }
                add(String(inside[..<end.lowerBound]), isCode: true)
                rest = inside[end.upperBound...]
            } else if rest.hasPrefix("<code>"), let end = rest.firstRange(of: "</code>") {
                add(entities(rest[..<end.lowerBound].dropFirst(6)), isCode: true)
                rest = rest[end.upperBound...]
            } else {
                add(String(first))
                rest = rest.dropFirst()
            }
        }
        return runs
    }

    private static func entities(_ text: Substring) -> String {
        String(text).replacing(#/&#([0-9]+);/#) { match in
            UInt32(match.1).flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? "?"
        }
    }
}
