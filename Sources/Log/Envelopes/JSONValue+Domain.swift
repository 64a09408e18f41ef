import JSON
import Values

extension JSONValue {
    /// RFC 3339 text or epoch milliseconds, if it lies in the years allowed for events.
    var timestamp: Timestamp? {
        if let text {
            guard let time = Timestamp(rfc3339: text.utf8.span) else { return nil }
            return Timestamp.plausible.contains(time) ? time : nil
        }
        return switch number {
        case .signed(let milliseconds): Timestamp(epochMilliseconds: milliseconds)
        case .double(let milliseconds): Timestamp(fractionalEpochMilliseconds: milliseconds)
        case .unsigned, nil: nil
        }
    }

    var uuid: UUID? {
        guard let text else { return nil }
        return UUID(utf8: text.utf8.span)
    }
}

extension JSONText {
    /// The beginning of a text, to be shown in a sentence: at most 64 bytes, and nothing that could upset a terminal or
    /// PostgreSQL.
    var excerpt: String {
        var excerpt = ""
        var bytes = 0
        for scalar in string.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > 64 { return "“\(excerpt)…”" }
            let isControl = scalar.properties.generalCategory == .control
            excerpt.unicodeScalars.append(isControl ? "\u{fffd}" : scalar)
        }
        return "“\(excerpt)”"
    }
}
