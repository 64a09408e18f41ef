/// A JSON value: what is read of a payload, and what an event is written from.
enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSONValue])
    /// In the order in which they are written.
    case object([Field])

    /// A member of an object.
    struct Field: Sendable, Hashable {
        let name: String
        let value: JSONValue

        init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of an object; nil for whatever is none.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let fields) = self else { return nil }
        return fields.last { $0.name == name }?.value
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var list: [JSONValue]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }

    /// The number that it is; a flag is none.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        default: nil
        }
    }

    /// Whether it switches something on: `1`, `true`, or `"1"`, as senders that know strings only write it.
    var isOn: Bool {
        switch self {
        case .flag(let flag): flag
        case .integer(let integer): integer != 0
        case .real(let real): real != 0
        case .text(let text): text == "1" || text == "true"
        default: false
        }
    }

    /// The name that it is: a text, or a whole number's digits.
    var name: String? {
        switch self {
        case .text(let text): text
        case .integer(let integer): String(integer)
        default: nil
        }
    }

    /// The object that it is, or that its text holds: some services send custom data as a text of JSON.
    var opened: JSONValue? {
        isObject ? self : text.flatMap { JSONValue(parsingObject: $0) }
    }
}
