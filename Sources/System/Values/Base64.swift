/// Base64 (RFC 4648).
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var word = part.reduce(0) { $0 << 8 | UInt32($1) }
            word <<= UInt32(8 * (3 - part.count))
            for place in 0..<4 {
                let digit = digits[Int(word >> UInt32(18 - 6 * place) & 63)]
                text.append(place <= part.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for text that is something else.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var (bytes, word, bits) = ([UInt8](), UInt32(0), UInt32(0))
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard text.utf8.count % 4 == 0, padding <= 2 else { return nil }
        for byte in text.utf8.dropLast(padding) {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            word = word << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
                word &= (1 << bits) - 1
            }
        }
        return bytes
    }
}
