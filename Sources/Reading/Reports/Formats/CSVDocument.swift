internal import ServiceRuntime

/// Reports as one long table. Each line is a number, preceded by what it is a number of.
package struct CSVDocument {
    static let columns = ["app", "day", "position", "section"] + names + ["measure", "value"]
    /// What identifies a number in its section.
    private static let names = ["name", "detail", "part", "place"]

    private(set) var text = CSVDocument.columns.joined(separator: ",") + "\n"

    init(_ reports: [Report]) {
        for report in reports {
            let start = "\(CSVDocument.cell(report.app)),\(report.period.name),\(report.position),"
            write(.single("report", Entry(facts: report.facts)), of: [], start)
            for list in report.lists { write(list, of: [], start) }
        }
    }

    private mutating func write(_ list: EntryList, of keys: [Fact], _ start: String) {
        for entry in list.entries {
            let keys = keys + entry.keys
            var cells = keys.map { CSVDocument.cell($0.value) }
            cells += Array(repeating: "", count: max(0, CSVDocument.names.count - cells.count))
            write(entry.facts, prefix: "", "\(start)\(list.name),\(cells.joined(separator: ",")),")
            for list in entry.lists { write(list, of: keys, start) }
        }
    }

    private mutating func write(_ facts: [Fact], prefix: String, _ start: String) {
        for fact in facts {
            let value: String
            switch fact.value {
            case .facts(let facts):
                write(facts ?? [], prefix: "\(prefix)\(fact.name).", start)
                continue
            // Text does not belong in a column of numbers.
            case .text, .texts: continue
            case .count, .number, .amount, .flag, .verdict: value = CSVDocument.cell(fact.value)
            }
            text += "\(start)\(prefix)\(fact.name),\(value)\n"
        }
    }

    private static func cell(_ value: Fact.Value) -> String {
        switch value {
        case .count(let count): count.map { String($0) } ?? ""
        case .number(let number): number.map { $0.isFinite ? $0.description : "" } ?? ""
        case .amount(let amount): amount.exact
        case .flag(let flag): flag ? "1" : "0"
        case .verdict(let verdict): verdict.sign.map { String($0) } ?? ""
        case .text(let text): text.map { cell($0) } ?? ""
        case .texts, .facts: ""
        }
    }

    /// A name from outside. If it begins like a formula, a spreadsheet would evaluate it: the apostrophe marks it as
    /// text. Line breaks and other control characters are shown, so a record stays one line.
    package static func cell(_ name: String) -> String {
        let shown = String(printable: name).unicodeScalars
        var cell = ""
        if let first = shown.first(where: { !$0.properties.isWhitespace }), formulaStarts.contains(first) {
            cell = "'"
        }
        // Scalar by scalar: a combining mark makes another Character of a comma or quote, but a program that reads
        // bytes still sees the comma or quote.
        for scalar in shown { cell += scalar == "\"" ? "\"\"" : String(scalar) }
        return shown.contains(where: quoted.contains) ? "\"\(cell)\"" : cell
    }

    private static let formulaStarts = Set("=+-@＝＋－＠".unicodeScalars)
    private static let quoted = Set("\",; '".unicodeScalars)
}
