/// The id of an event: 128 bits.
struct EventID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    private static let variant: UInt64 = 0x8000_0000_0000_0000
    private static let belowVariant: UInt64 = 0x3FFF_FFFF_FFFF_FFFF

    /// A new id of version 7: it begins with the time.
    init(at moment: Moment) {
        high = UInt64(clamping: moment.milliseconds) << 16 | 0x7000 | UInt64.random(in: 0...0xFFF)
        low = EventID.variant | UInt64.random(in: 0...EventID.belowVariant)
    }

    /// An id of version 8, derived from these words. The same words always give the same id, in every process.
    init(deriving words: String...) {
        let digest = Digest(words)
        high = digest.high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        low = digest.low & EventID.belowVariant | EventID.variant
    }
}

extension EventID {
    /// Reads what `description` wrote; nil for anything else.
    init?(_ text: String) {
        let digits = text.split(separator: "-", omittingEmptySubsequences: false).joined()
        guard text.utf8.count == 36, digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }
}

extension EventID: CustomStringConvertible {
    var description: String {
        var text = ""
        for (index, digit) in (hexadecimal(high) + hexadecimal(low)).enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

/// A 128-bit hash of some words, in which every byte counts. It is neither collision-resistant against attackers nor
/// secret: two FNV-1a-like runs with different starting values, mixed at the end.
struct Digest: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    init(_ words: [String]) {
        var (high, low): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x6C62_272E_07BB_0142)
        for word in words {
            // The byte 255 never occurs in UTF-8. It keeps `ab`, `c` apart from `a`, `bc`.
            for byte in Array(word.utf8) + [0xFF] {
                high = (high ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
                low = (low ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
                low ^= low >> 29
            }
        }
        self.high = Digest.stirred(high ^ low >> 32)
        self.low = Digest.stirred(low &+ high)
    }

    var description: String { hexadecimal(high) + hexadecimal(low) }

    private static func stirred(_ bits: UInt64) -> UInt64 {
        var bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }
}

private func hexadecimal(_ bits: UInt64) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
