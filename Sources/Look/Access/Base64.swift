/// Bytes as text (RFC 4648).
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.enumerated().reduce(UInt32(0)) {
                $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset))
            }
            for place in 0..<4 as Range<UInt32> {
                text.append(place <= group.count ? digits[Int(number >> (18 - 6 * place) & 63)] : "=")
            }
        }
        return String(text)
    }
}
