/// The three spellings of one FCM message id.
///
/// Firebase names the same message `projects/<project>/messages/<rest>` to the sender, `0:<digits>%<hex>` to the phone,
/// and `<digits>` in its exports.
package enum FCMMessageID {
    /// The spelling that all of them share; anything that is none of the three stays as it is.
    package static func normalized(_ raw: String) -> String {
        let rest = withoutResourceName(raw.utf8[...])
        return String(digitsOfPhoneSpelling(rest) ?? rest) ?? raw
    }

    private static func withoutResourceName(_ text: Substring.UTF8View) -> Substring.UTF8View {
        guard text.starts(with: "projects/".utf8) else { return text }
        let project = text.dropFirst(9).prefix { $0 != UInt8(ascii: "/") }
        let tail = text[project.endIndex...]
        guard !project.isEmpty, tail.starts(with: "/messages/".utf8) else { return text }
        let rest = tail.dropFirst(10)
        return rest.isEmpty ? text : rest
    }

    private static func digitsOfPhoneSpelling(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        guard text.starts(with: "0:".utf8) else { return nil }
        let digits = text.dropFirst(2).prefix { isDigit($0) }
        let tail = text[digits.endIndex...]
        guard !digits.isEmpty, tail.first == UInt8(ascii: "%") else { return nil }
        let hex = tail.dropFirst()
        guard !hex.isEmpty, hex.allSatisfy({ isDigit($0) || isHexLetter($0) }) else { return nil }
        return digits
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
