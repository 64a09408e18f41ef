/// The three spellings of one FCM message id.
///
/// Firebase names the same message `projects/<project>/messages/<rest>` to the sender, `0:<digits>%<hex>` to the phone,
/// and `<digits>` in its exports.
package enum FCMMessageID {
    /// The part that all three share. Any other text stays as it is.
    package static func normalized(_ raw: String) -> String {
        let key = key(in: raw.utf8.span)
        return key.count == raw.utf8.count ? raw : String(decoding: Array(raw.utf8)[key], as: UTF8.self)
    }

    /// Where the key is in a spelling, and where the rest is that `suffix` finds.
    package static func parts(of text: Span<UInt8>) -> (key: Range<Int>, suffix: Range<Int>?) {
        let key = key(in: text)
        return (key, suffix(of: text, after: key))
    }

    /// Where the shared part is in a spelling.
    static func key(in text: Span<UInt8>) -> Range<Int> {
        let start = startAfterResourceName(text)
        return digitsOfPhoneSpelling(text, from: start) ?? start..<text.count
    }

    /// Where the rest of a phone's spelling is, after its key and `%`, if it has the usual form: pairs of lower-case
    /// hexadecimal digits.
    static func suffix(of text: Span<UInt8>, after key: Range<Int>) -> Range<Int>? {
        guard key.lowerBound == 2, key.upperBound < text.count, starts(text, with: "0:", at: 0) else { return nil }
        let suffix = key.upperBound + 1..<text.count
        guard suffix.count % 2 == 0 else { return nil }
        for place in suffix where !(isDigit(text[place]) || isHexLetter(text[place]) && text[place] & 0x20 != 0) {
            return nil
        }
        return suffix
    }

    private static func startAfterResourceName(_ text: Span<UInt8>) -> Int {
        guard starts(text, with: "projects/", at: 0) else { return 0 }
        var place = 9
        while place < text.count, text[place] != UInt8(ascii: "/") { place += 1 }
        let rest = place + 10
        guard place > 9, starts(text, with: "/messages/", at: place), rest < text.count else { return 0 }
        return rest
    }

    private static func digitsOfPhoneSpelling(_ text: Span<UInt8>, from start: Int) -> Range<Int>? {
        guard starts(text, with: "0:", at: start) else { return nil }
        let first = start + 2
        var end = first
        while end < text.count, isDigit(text[end]) { end += 1 }
        guard end > first, end + 1 < text.count, text[end] == UInt8(ascii: "%") else { return nil }
        for place in end + 1..<text.count where !isDigit(text[place]) && !isHexLetter(text[place]) { return nil }
        return first..<end
    }

    private static func starts(_ text: Span<UInt8>, with prefix: StaticString, at start: Int) -> Bool {
        guard text.count - start >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { prefix in
            for place in 0..<prefix.count where text[start + place] != prefix[place] { return false }
            return true
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
