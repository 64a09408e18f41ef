/// What a phone takes for a URL, as far as its scheme.
enum WebAddress {
    /// Whether a text is a URL with a scheme. Characters that do not belong into one are let through, as Apple's
    /// Foundation escapes them; what it cannot mend is a scheme with other letters, and an authority that is none.
    static func hasScheme(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // Foundation takes an empty scheme for one.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon == 0 || isLetter(bytes[0]),
            bytes[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return false }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else { return true }
        return isAuthority(rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) })
    }

    /// Name and password, a host, a port of digits.
    private static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        let host = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes[($0 + 1)...] } ?? bytes
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isPort(host[(end + 1)...])
        }
        guard let colon = host.firstIndex(of: UInt8(ascii: ":")) else { return true }
        return isPort(host[colon...])
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.isEmpty || bytes.first == UInt8(ascii: ":") && bytes.dropFirst().allSatisfy(isDigit)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
