/// A request's head in its parts.
struct ParsedHead {
    let line: RequestLine
    let fields: HeaderFields
    let framing: BodyFraming
    /// Whether the client wants to go on with this connection.
    let isPersistent: Bool

    /// Of a head that the scanner has found whole; anything else than what RFC 9112 has every sender write is refused.
    init(_ bytes: [UInt8], end: Int) throws(RequestFault) {
        guard let lineEnd = bytes[..<end].firstIndex(of: 0x0D) else {
            throw .malformed(detail: "there is no request line")
        }
        line = try RequestLine(bytes[..<lineEnd])
        fields = try HeaderFields(bytes[(lineEnd + 2)..<(end - 2)])
        try ParsedHead.checkHost(fields, line.version)
        framing = try BodyFraming(fields: fields, version: line.version)
        let options = fields.values(of: "connection").flatMap { $0.split(separator: ",") }
            .map(\.trimmingSpaces)
        isPersistent =
            !options.contains { $0.isWord("close") }
            && (line.version == .http11 || options.contains { $0.isWord("keep-alive") })
    }

    /// One, in HTTP/1.1, and it is a host: proxies choose by it whom they ask.
    private static func checkHost(_ fields: HeaderFields, _ version: HTTPVersion) throws(RequestFault) {
        let hosts = fields.values(of: "host")
        guard hosts.count == 1 || hosts.isEmpty && version == .http10 else {
            throw .malformed(detail: hosts.isEmpty ? "there is no Host" : "there is more than one Host field")
        }
        for host in hosts {
            guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"#,/<>?@\\^`{|}".utf8.contains($0) }) else {
                throw .malformed(detail: "the Host field is not valid")
            }
        }
    }
}

enum HTTPVersion { case http10, http11 }

/// `GET /path HTTP/1.1`
struct RequestLine {
    let method: String
    let target: String
    let version: HTTPVersion

    init(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        let parts = line.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw .malformed(detail: "a request line is a method, a target and a version, with one space between them")
        }
        guard !parts[0].isEmpty, parts[0].count <= 32, parts[0].allSatisfy(HeaderFields.isTokenByte) else {
            throw .malformed(detail: "the method is not a token")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .malformed(detail: "the target has characters that must be percent-encoded")
        }
        // A path, or the whole address, or `*`: a tunnel, which CONNECT asks for, or a word alone is for others.
        let isForUs =
            parts[1].first == UInt8(ascii: "/") || parts[1].starts(with: "http".utf8)
            || parts[1].starts(with: "HTTP".utf8) || parts[1].elementsEqual("*".utf8)
        guard isForUs, !parts[0].elementsEqual("CONNECT".utf8) else {
            throw .malformed(detail: "the target is neither a path nor an http address")
        }
        switch parts[2] {
        case ArraySlice("HTTP/1.1".utf8): version = .http11
        case ArraySlice("HTTP/1.0".utf8): version = .http10
        default: throw .malformed(detail: "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = String(decoding: parts[1], as: UTF8.self)
    }
}

extension StringProtocol {
    /// Without spaces and tabs at its ends.
    var trimmingSpaces: SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }),
            let last = indices.last(where: { !isSpace(self[$0].asciiValue ?? 0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
