internal import ServiceRuntime
internal import Values

/// A report as one JSON object on one line, so several reports are JSON lines. `Docs/report.schema.json` is the schema.
struct JSONDocument {
    /// In each document. The number changes when a member is renamed or changes its meaning.
    static let schema = "bellwether.report/1"

    let text: String

    init(_ report: Report) {
        let about: [Fact] = [
            .text("schema", JSONDocument.schema), .text("app", report.app), .text("day", report.day.description),
            .text("week", report.week?.description),
            .text("time_zone", report.timeZone), .count("position", report.position),
            .text("made_at", report.madeAt.description),
        ]
        text = Entry(facts: about + report.facts, lists: report.lists).json + "\n"
    }
}

extension Entry: JSONWritable {
    func appendJSON(to text: inout String) {
        let facts: [(String, any JSONWritable)] = (keys + facts).map { ($0.name, $0.value) }
        let lists: [(String, any JSONWritable)] = lists.map { list in
            (list.name, list.isSingle ? list.entries.first as any JSONWritable : list.entries)
        }
        JSONObject(facts + lists).appendJSON(to: &text)
    }
}

extension Fact.Value: JSONWritable {
    func appendJSON(to text: inout String) {
        switch self {
        case .count(let count): count.appendJSON(to: &text)
        case .number(let number): number.appendJSON(to: &text)
        case .amount(let amount): text += amount.exact
        case .text(let words): words.appendJSON(to: &text)
        case .texts(let list): list.appendJSON(to: &text)
        case .flag(let flag): flag.appendJSON(to: &text)
        case .verdict(let verdict): verdict.word.appendJSON(to: &text)
        case .facts(let facts): facts.map { Entry(facts: $0) }.appendJSON(to: &text)
        }
    }
}
