/// A request's head, parsed.
struct ParsedHead {
    let line: RequestLine
    let fields: HeaderFields
    let framing: BodyFraming
    /// Whether the client wants to keep this connection.
    let isPersistent: Bool

    /// Parses a head that the scanner has found complete. It refuses anything that RFC 9112 does not allow senders to
    /// write.
    init(_ bytes: [UInt8], end: Int) throws(RequestFault) {
        guard let lineEnd = bytes[..<end].firstIndex(of: 0x0D) else {
            throw .malformed(detail: "there is no request line")
        }
        line = try RequestLine(bytes[..<lineEnd])
        fields = try HeaderFields(bytes[(lineEnd + 2)..<(end - 2)])
        try ParsedHead.checkHost(fields, line.version)
        framing = try BodyFraming(fields: fields, version: line.version)
        var (wantsClose, wantsMore) = (false, false)
        fields.each("connection") { list in
            HeaderFields.eachElement(of: list) { option in
                if HeaderFields.isWord(option, "close") { wantsClose = true }
                if HeaderFields.isWord(option, "keep-alive") { wantsMore = true }
            }
        }
        isPersistent = !wantsClose && (line.version == .http11 || wantsMore)
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

enum HTTPVersion { case http10, http11 }

/// `GET /path HTTP/1.1`
struct RequestLine {
    let method: String
    let target: String
    let version: HTTPVersion

    init(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        let (method, rest) = RequestLine.cut(line)
        guard let rest, case (let target, let last?) = RequestLine.cut(rest), !last.contains(0x20) else {
            throw .malformed(detail: "a request line is a method, a target and a version, with one space between them")
        }
        guard !method.isEmpty, method.count <= 32, method.allSatisfy(HeaderFields.isTokenByte) else {
            throw .malformed(detail: "the method is not a token")
        }
        guard !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .malformed(detail: "the target has characters that must be percent-encoded")
        }
        // A path, a whole URL, or `*`. CONNECT's tunnels and a bare word are not for us.
        let isForUs =
            target.first == UInt8(ascii: "/") || target.starts(with: "http".utf8) || target.starts(with: "HTTP".utf8)
            || target.elementsEqual("*".utf8)
        guard isForUs, !method.elementsEqual("CONNECT".utf8) else {
            throw .malformed(detail: "the target is neither a path nor an http address")
        }
        if last.elementsEqual("HTTP/1.1".utf8) {
            version = .http11
        } else if last.elementsEqual("HTTP/1.0".utf8) {
            version = .http10
        } else {
            throw .malformed(detail: "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        self.method = String(decoding: method, as: UTF8.self)
        self.target = String(decoding: target, as: UTF8.self)
    }

    /// What stands before the first space, and what behind it.
    private static func cut(_ line: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let space = line.firstIndex(of: 0x20) else { return (line, nil) }
        return (line[..<space], line[(space + 1)...])
    }
}
