internal import Values

/// What may name a category or an action: names that people can distinguish by sight, and that need no escape in
/// shells, SQL and JSON.
enum IdentifierRule {
    /// What is wrong with it; nil if nothing is.
    static func fault(of text: String) -> String? {
        guard !text.isEmpty else { return "must not be empty" }
        guard text.utf8.count <= RegistryLimits.identifier else {
            return "has \(text.utf8.count) bytes, at most \(RegistryLimits.identifier) are allowed"
        }
        let scalars = text.unicodeScalars
        for scalar in scalars {
            switch scalar {
            case "\"", "'", "`", "\\": return "must not contain a quote or backslash"
            case " ": continue
            default:
                if isUnseen(scalar) {
                    let code = String(scalar.value, digits: 4, radix: 16, uppercase: true)
                    return "must not contain control, invisible or direction-changing characters (here U+\(code))"
                }
            }
        }
        if scalars.first == " " || scalars.last == " " { return "must not begin or end with a space" }
        return nil
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned: true
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isWhitespace
        }
    }
}

/// A text that is compared by its bytes, as in JSON and SQL. Swift's own strings are equal if they look the same.
struct ExactText: Hashable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}
