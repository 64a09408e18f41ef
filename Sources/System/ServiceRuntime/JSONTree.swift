internal import Values

extension String {
    /// Appends a text as a JSON string literal with its quotes. Parsers read the same text. Characters that reverse,
    /// break or hide text on a screen are escaped.
    package mutating func appendJSON(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case " "..."~": unicodeScalars.append(scalar)
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: appendEscaped(scalar)
                default: unicodeScalars.append(scalar)
                }
            }
        }
        append("\"")
    }

    /// As `\u` and four digits, or as a surrogate pair beyond 16 bits.
    private mutating func appendEscaped(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            append("\\u" + String(unit, digits: 4, radix: 16))
        }
    }

    /// Copies JSON and escapes characters that reverse, break or hide text on a screen. They can only occur in its
    /// strings.
    package init(escapedJSON json: String) {
        self = ""
        for scalar in json.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: appendEscaped(scalar)
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// A text as a JSON string literal.
    package init(json text: String) {
        self = ""
        appendJSON(text)
    }
}

/// A value that can be written as JSON.
package protocol JSONWritable {
    func appendJSON(to text: inout String)
}

extension JSONWritable {
    /// In one line, without spaces.
    package var json: String {
        var text = ""
        appendJSON(to: &text)
        return text
    }
}

/// An object whose members keep the given order.
package struct JSONObject: JSONWritable, ExpressibleByDictionaryLiteral {
    private let members: [(name: String, value: any JSONWritable)]

    package init(dictionaryLiteral members: (String, any JSONWritable)...) {
        self.members = members.map { ($0.0, $0.1) }
    }

    package init(_ members: some Sequence<(String, any JSONWritable)>) {
        self.members = members.map { ($0.0, $0.1) }
    }

    /// This object with one more member before the others.
    package func preceded(by name: String, _ value: any JSONWritable) -> JSONObject {
        JSONObject([(name, value)] + members.map { ($0.name, $0.value) })
    }

    package func appendJSON(to text: inout String) {
        var separator = "{"
        for (name, value) in members {
            text += separator
            text.appendJSON(name)
            text += ":"
            value.appendJSON(to: &text)
            separator = ","
        }
        text += members.isEmpty ? "{}" : "}"
    }
}

/// A value that is JSON already, escaped as all of ours.
package struct WrittenJSON: JSONWritable {
    private let json: String

    package init(_ json: String) { self.json = json }

    package func appendJSON(to text: inout String) { text += String(escapedJSON: json) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func appendJSON(to text: inout String) {
        var separator = "["
        for element in self {
            text += separator
            element.appendJSON(to: &text)
            separator = ","
        }
        text += isEmpty ? "[]" : "]"
    }
}

/// nil becomes null.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    package func appendJSON(to text: inout String) {
        if let value = self { value.appendJSON(to: &text) } else { text += "null" }
    }
}

extension String: JSONWritable {
    package func appendJSON(to text: inout String) { text.appendJSON(self) }
}

extension Bool: JSONWritable {
    package func appendJSON(to text: inout String) { text += self ? "true" : "false" }
}

extension JSONWritable where Self: BinaryInteger {
    package func appendJSON(to text: inout String) { text += "\(self)" }
}

extension Int: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}

/// A number that is not finite becomes null, because JSON has none.
extension Double: JSONWritable {
    package func appendJSON(to text: inout String) { text += isFinite ? "\(self)" : "null" }
}
