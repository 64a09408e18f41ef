internal import ServiceRuntime
internal import Telemetry

/// Reports as one long table: a line for each number, and before it what it is a number of.
struct CSVDocument {
    static let columns = ["app", "day", "position", "section", "name", "detail", "part", "measure", "value"]

    private(set) var text = CSVDocument.columns.joined(separator: ",") + "\n"

    init(_ reports: [Report]) {
        for report in reports {
            let start = "\(CSVDocument.cell(report.app)),\(report.day),\(report.position),"
            write(.single("report", Entry(facts: report.facts)), of: [], start)
            for list in report.lists { write(list, of: [], start) }
        }
    }

    private mutating func write(_ list: EntryList, of keys: [Fact], _ start: String) {
        for entry in list.entries {
            let keys = keys + entry.keys
            var cells = keys.map { CSVDocument.cell($0.value) }
            cells += Array(repeating: "", count: max(0, 3 - cells.count))
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
            // Of more than one value, which a column of numbers cannot hold.
            case .text, .texts: continue
            case .count, .number, .flag, .verdict: value = CSVDocument.cell(fact.value)
            }
            text += "\(start)\(prefix)\(fact.name),\(value)\n"
        }
    }

    private static func cell(_ value: Fact.Value) -> String {
        switch value {
        case .count(let count): count.map { String($0) } ?? ""
        case .number(let number): number.map { $0.isFinite ? $0.description : "" } ?? ""
        case .flag(let flag): flag ? "1" : "0"
        case .verdict(let verdict): verdict.sign.map { String($0) } ?? ""
        case .text(let text): text.map { cell($0) } ?? ""
        case .texts, .facts: ""
        }
    }

    /// A name from outside. A spreadsheet takes what begins so for a formula and would obey it; the apostrophe tells it
    /// that this is text. Line breaks and other control characters are shown, so that a line stays a line.
    private static func cell(_ name: String) -> String {
        let shown = String(printable: name).unicodeScalars
        var cell = ""
        if let first = shown.first(where: { !$0.properties.isWhitespace }), formulaStarts.contains(first) {
            cell = "'"
        }
        // Scalar by scalar: a mark that combines with a comma or quote makes another character of it, but not to a reader
        // of bytes.
        for scalar in shown { cell += scalar == "\"" ? "\"\"" : String(scalar) }
        return shown.contains(where: quoted.contains) ? "\"\(cell)\"" : cell
    }

    private static let formulaStarts = Set("=+-@＝＋－＠".unicodeScalars)
    private static let quoted = Set("\",; '".unicodeScalars)
}
