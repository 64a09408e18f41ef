/// A request without its body. It is a copy, so it stays valid.
package struct RequestHead: Sendable {
    /// As the client wrote it; methods are case-sensitive.
    package let method: String
    /// The target up to the question mark, not percent-decoded, so that `/a%2Fb` is never `/a/b`.
    package let path: String
    /// The part after the question mark, unchanged; nil if there is none.
    package let query: String?
    /// The announced length of the body; nil if none was announced, or for a chunked body.
    package let contentLength: Int?
    /// Whether a body follows.
    package let hasBody: Bool
    /// The client's address without port; `unix` for a client on a Unix socket.
    package let peer: String
    /// The client waits for `100 Continue` before it sends its body.
    let expectsContinue: Bool
    private let fields: HeaderFields

    init(_ parsed: ParsedHead, peer: String) {
        method = parsed.line.method
        let origin = RequestHead.originForm(of: parsed.line.target)
        if let mark = origin.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = String(origin[..<mark])
            query = String(origin[origin.utf8.index(after: mark)...])
        } else {
            path = String(origin)
            query = nil
        }
        self.peer = peer
        fields = parsed.fields
        switch parsed.framing {
        case .none: (contentLength, hasBody) = (nil, false)
        case .length(let length): (contentLength, hasBody) = (length, length > 0)
        case .chunked: (contentLength, hasBody) = (nil, true)
        }
        var (expectations, isContinue) = (0, false)
        fields.each("expect") { value in
            expectations += 1
            isContinue = HeaderFields.isWord(value, "100-continue")
        }
        expectsContinue = hasBody && parsed.line.version == .http11 && expectations == 1 && isContinue
    }

    /// The value of a header field, whatever the case of its name; several lines of one name are joined with `, `.
    package func header(_ name: StaticString) -> String? { fields.value(of: name) }

    /// Whether there is one such header field, and its value is this word. It allocates nothing.
    package func header(_ name: StaticString, is word: StaticString) -> Bool {
        var (count, isWord) = (0, false)
        fields.each(name) { value in
            count += 1
            isWord = HeaderFields.isWord(value, word)
        }
        return count == 1 && isWord
    }

    /// Clients may send the whole URL as target, as they do to a proxy (RFC 9112, 3.2.2).
    private static func originForm(of target: String) -> Substring {
        guard target.utf8.first != UInt8(ascii: "/") else { return target[...] }
        for scheme in ["http://", "https://"] where target.utf8.count >= scheme.utf8.count {
            let end = target.utf8.index(target.startIndex, offsetBy: scheme.utf8.count)
            guard target[..<end].isWord(scheme) else { continue }
            let rest = target[end...]
            guard let authorityEnd = rest.utf8.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
            else { return "/" }
            return rest.utf8[authorityEnd] == UInt8(ascii: "/") ? rest[authorityEnd...] : "/" + rest[authorityEnd...]
        }
        return target[...]
    }
}
