internal import ServiceRuntime
internal import Values

/// A report as one JSON object on one line, so several reports are JSON lines. `Docs/report.schema.json` is the schema.
struct JSONDocument {
    /// In each document. The number changes when a member is renamed or changes its meaning.
    static let schema = "bellwether.report/1"

    let text: String

    init(_ report: Report) {
        var writer = Writer()
        let about: [Fact] = [
            .text("schema", JSONDocument.schema), .text("app", report.app), .text("day", report.day.description),
            .text("week", report.week?.description),
            .text("time_zone", report.timeZone), .count("position", report.position),
            .text("made_at", report.madeAt.description),
        ]
        writer.write(Entry(facts: about + report.facts, lists: report.lists))
        text = writer.text + "\n"
    }

    private struct Writer {
        private(set) var text = ""

        mutating func write(_ entry: Entry) {
            text += "{"
            var isFirst = true
            for fact in entry.keys + entry.facts {
                separate(&isFirst)
                write(name: fact.name)
                write(fact.value)
            }
            for list in entry.lists {
                separate(&isFirst)
                write(name: list.name)
                if list.isSingle {
                    if let entry = list.entries.first { write(entry) } else { text += "null" }
                } else {
                    write(list.entries) { $0.write($1) }
                }
            }
            text += "}"
        }

        private mutating func write(_ value: Fact.Value) {
            switch value {
            case .count(let count): text += count.map { String($0) } ?? "null"
            // Only finite numbers can be written. The shortest digits are read back as the same number.
            case .number(let number): text += number.map { $0.isFinite ? $0.description : "null" } ?? "null"
            case .text(let words): if let words { text.appendJSON(words) } else { text += "null" }
            case .texts(let list): write(list) { $0.text.appendJSON($1) }
            case .flag(let flag): text += flag ? "true" : "false"
            case .verdict(let verdict): text.appendJSON(verdict.word)
            case .facts(let facts): if let facts { write(Entry(facts: facts)) } else { text += "null" }
            }
        }

        private mutating func write<Element>(_ list: [Element], by write: (inout Writer, Element) -> Void) {
            text += "["
            var isFirst = true
            for element in list {
                separate(&isFirst)
                write(&self, element)
            }
            text += "]"
        }

        private mutating func separate(_ isFirst: inout Bool) {
            if !isFirst { text += "," }
            isFirst = false
        }

        private mutating func write(name: String) {
            text.appendJSON(name)
            text += ":"
        }
    }
}
