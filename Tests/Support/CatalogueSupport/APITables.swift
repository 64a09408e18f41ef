import Telemetry
import Values

/// The tables of types and members in `Docs/API.md`.
package enum APITables {
    package static var text: String {
        var text = "| type | what happened | own members (**required**) |\n| --- | --- | --- |\n"
        for type in EventType.allCases {
            let own = type.members.filter { $0.schemas.contains(type.schema) }
                .map { $0.isRequired(of: type) ? "**`\($0.key)`**" : "`\($0.key)`" }
            text += "| `\(type.wire)` | \(type.comment) | \(own.joined(separator: ", ")) |\n"
        }
        text += "\n| member | value | |\n| --- | --- | --- |\n"
        for object in Declaration.Object.allCases {
            for member in Member.members(of: object) {
                text += "| `\(member.path)` | \(member.declaration.kind.words) | \(member.comment) |\n"
            }
        }
        return text
    }
}

extension Member {
    /// What whoever posts it has to know.
    var comment: String { declaration.wireComment ?? declaration.comment }
}

extension Declaration.Kind {
    fileprivate var words: String {
        switch self {
        case .uuid: "UUID"
        case .type: "one of the types above"
        case .time: "time"
        case .object: "object"
        case .text(let limit), .word(_, let limit): "text, \(limit) bytes"
        case .code(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .codes(let words): "list of " + words.map { "`\($0)`" }.joined(separator: ", ")
        case .boolean: "boolean"
        case .integer(let range):
            range.upperBound == .max
                ? "whole, from \(range.lowerBound)" : "whole, \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "number, \(Int(range.lowerBound)) to \(Int(range.upperBound))"
        case .decimal(let whole): "number or its text, from 0, below \(whole)"
        case .letters(let count): "\(count) letters, `A` to `Z`"
        }
    }
}
