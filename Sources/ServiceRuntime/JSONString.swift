extension String {
    /// Appends a text as a JSON string literal, quotes included: the same text to whoever parses it, and nothing that turns
    /// the line round, breaks it or hides in it for whoever looks at it.
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

    /// As `\u` and four digits; as its two halves beyond 16 bits.
    private mutating func appendEscaped(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }

    /// A text as a JSON string literal.
    package init(json text: String) {
        self = ""
        appendJSON(text)
    }
}
