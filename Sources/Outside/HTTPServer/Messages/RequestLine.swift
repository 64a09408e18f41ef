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
