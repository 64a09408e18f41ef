/// JSON with its members in the order in which they are written here.
indirect enum JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    case text(String)
    case number(Int64)
    case list([JSONTree])
    case object([(String, JSONTree)])

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int64) { self = .number(number) }
    init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    init(dictionaryLiteral members: (String, JSONTree)...) { self = .object(members) }

    /// The members of an object, and more of them.
    func with(_ more: [(String, JSONTree)]) -> JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(members + more)
    }

    /// Indented by two spaces; what is short and flat stands in one line.
    func text(indent: Int = 0) -> String {
        let line = inLine
        if indent + line.count <= 100 { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch self {
        case .text, .number: return line
        case .list(let elements):
            let lines = elements.map { inner + $0.text(indent: indent + 2) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        case .object(let members):
            let lines = members.map { "\(inner)\(JSONTree.text($0).inLine): \($1.text(indent: indent + 2))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        }
    }

    private var inLine: String {
        switch self {
        case .text(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
        case .number(let number): "\(number)"
        case .list(let elements): "[\(elements.map(\.inLine).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(JSONTree.text($0).inLine): \($1.inLine)" }.joined(separator: ", "))}"
        }
    }
}
