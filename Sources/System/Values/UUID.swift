/// 128 bits written as 8-4-4-4-12 hexadecimal digits; compared as bits, shown in lower case. Any version is valid.
package struct UUID: Hashable, Comparable, Sendable, BitwiseCopyable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the textual form, digits in either case; nil for anything else.
    package init?(_ text: some StringProtocol) {
        self.init(utf8: String(text).utf8.span)
    }

    /// Reads the textual form from its bytes.
    package init?(utf8 text: some Collection<UInt8>) {
        self.init(utf8: Array(text).span)
    }

    /// Reads the textual form from its bytes.
    package init?(utf8 text: Span<UInt8>) {
        guard text.count == 36,
            text[8] == UInt8(ascii: "-"), text[13] == UInt8(ascii: "-"), text[18] == UInt8(ascii: "-"),
            text[23] == UInt8(ascii: "-"),
            let first = UUID.word(text, 0..<8), let second = UUID.word(text, 9..<13),
            let third = UUID.word(text, 14..<18), let fourth = UUID.word(text, 19..<23),
            let fifth = UUID.word(text, 24..<36)
        else { return nil }
        self.init(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
    }

    package static func < (left: UUID, right: UUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func word(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var word: UInt64 = 0
        for position in range {
            guard let digit = digit(text[position]) else { return nil }
            word = word << 4 | digit
        }
        return word
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

extension UUID: CustomStringConvertible {
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = nibble < 16 ? high : low
                text[position] = digits[Int(word >> UInt64(60 - 4 * (nibble % 16)) & 15)]
                position += 1
            }
            return position
        }
    }
}
