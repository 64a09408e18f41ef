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
    /// Whether the client wants to keep this connection.
    let isPersistent: Bool
    let version: HTTPVersion
    let framing: BodyFraming
    private let fields: HeaderFields

    /// Parses a head that the scanner has found complete. It refuses anything that RFC 9112 does not allow senders to
    /// write.
    init(_ bytes: [UInt8], end: Int, peer: String) throws(RequestFault) {
        guard let lineEnd = bytes[..<end].firstIndex(of: 0x0D) else {
            throw .malformed(detail: "there is no request line")
        }
        let line = try RequestLine(bytes[..<lineEnd])
        fields = try HeaderFields(bytes[(lineEnd + 2)..<(end - 2)])
        (method, version) = (line.method, line.version)
        try RequestHead.checkHost(fields, version)
        framing = try BodyFraming(fields: fields, version: version)
        let origin = RequestHead.originForm(of: line.target)
        if let mark = origin.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = String(origin[..<mark])
            query = String(origin[origin.utf8.index(after: mark)...])
        } else {
            path = String(origin)
            query = nil
        }
        self.peer = peer
        switch framing {
        case .none: (contentLength, hasBody) = (nil, false)
        case .length(let length): (contentLength, hasBody) = (length, length > 0)
        case .chunked: (contentLength, hasBody) = (nil, true)
        }
        var (expectations, isContinue) = (0, false)
        fields.each("expect") { value in
            expectations += 1
            isContinue = HeaderFields.isWord(value, "100-continue")
        }
        expectsContinue = hasBody && version == .http11 && expectations == 1 && isContinue
        var (wantsClose, wantsMore) = (false, false)
        fields.each("connection") { list in
            HeaderFields.eachElement(of: list) { option in
                if HeaderFields.isWord(option, "close") { wantsClose = true }
                if HeaderFields.isWord(option, "keep-alive") { wantsMore = true }
            }
        }
        isPersistent = !wantsClose && (version == .http11 || wantsMore)
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

    /// HTTP/1.1 requires exactly one `Host`, and it must be a valid host, because proxies choose the server by it.
    private static func checkHost(_ fields: HeaderFields, _ version: HTTPVersion) throws(RequestFault) {
        var (count, isValid) = (0, true)
        fields.each("host") { host in
            count += 1
            for index in host.indices where !hostBytes[Int(host[index])] { isValid = false }
        }
        guard count == 1 || count == 0 && version == .http10 else {
            throw .malformed(detail: count == 0 ? "there is no Host" : "there is more than one Host field")
        }
        guard isValid else { throw .malformed(detail: "the Host field is not valid") }
    }

    private static let hostBytes = (UInt8.min...UInt8.max).map { byte in
        byte > 0x20 && byte < 0x7F && !"\"#,/<>?@\\^`{|}".utf8.contains(byte)
    }
}
