/// A URL to post to. Whoever reads it on the way reads the report, so it is https, or does not leave this machine.
package struct WebAddress: Sendable, Hashable {
    package let url: String
    /// The part that may be told in an error: the rest may be what opens the place.
    package let host: String

    /// Its text is no URL to post to; the text never says the URL.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ text: String, allowsHTTP: Bool = false) throws(Fault) {
        let schemes = ["https://", "http://"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }), text.utf8.count <= 2048,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Fault(description: "must be a URL such as https://hooks.example.com/bellwether") }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !authority.contains("\\") else {
            throw Fault(description: "must be a URL without a user's name or password")
        }
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }) + "]" : String(authority.prefix { $0 != ":" })
        guard !host.isEmpty, host != "[]" else { throw Fault(description: "must be a URL with a host") }
        guard scheme == "https://" || allowsHTTP || Self.isLoopback(host) else {
            throw Fault(
                description: "must begin with https://, since anybody on the way could read or change the report "
                    + "(\"allow_http\": true takes plain http all the same)")
        }
        (url, self.host) = (text, host)
    }

    private static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
