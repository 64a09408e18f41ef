/// 128 bits written as 8-4-4-4-12 hexadecimal digits; compared as bits, shown in lower case, of any version.
package struct UUID: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the textual form, digits in either case; nil for anything else.
    package init?(_ text: some StringProtocol) {
        self.init(utf8: text.utf8)
    }

    /// Reads the textual form from its bytes.
    package init?(utf8 text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (position, byte) in text.enumerated() {
            switch (position, byte) {
            case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")), (23, UInt8(ascii: "-")):
                continue
            case (8, _), (13, _), (18, _), (23, _):
                return nil
            default:
                guard let digit = UUID.digit(byte) else { return nil }
                high = high << 4 | low >> 60
                low = low << 4 | digit
            }
        }
        self.init(high: high, low: low)
    }

    package static func < (left: UUID, right: UUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
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
