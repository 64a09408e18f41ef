/// Header fields in one piece of memory: a request allocates once for all of them, and a value becomes a `String` only
/// when somebody asks for it.
struct HeaderFields: Sendable {
    /// Name, NUL, value, NUL, and so on. No NUL is inside: the scanner let none through.
    private var bytes: [UInt8] = []

    /// Of whole lines, each with its CR and LF. A name is a token and stands directly before its colon (RFC 9112, 5.1), and
    /// no line goes on in the next one (5.2): `Content-Length : 5` and folded lines are what readers disagree about.
    init(_ lines: ArraySlice<UInt8>) throws(RequestFault) {
        bytes.reserveCapacity(lines.count + 16)
        var start = lines.startIndex
        while start < lines.endIndex {
            guard let end = lines[start...].firstIndex(of: 0x0D) else { break }
            try append(lines[start..<end])
            start = end + 2
        }
    }

    private mutating func append(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        guard line.first != 0x20, line.first != 0x09 else {
            throw .malformed(detail: "a header field continues on the next line")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformed(detail: "a header field has no colon")
        }
        guard colon > line.startIndex, line[..<colon].allSatisfy(HeaderFields.isTokenByte) else {
            throw .malformed(detail: "the name of a header field is not a token")
        }
        var (first, last) = (colon + 1, line.endIndex)
        while first < last, line[first] == 0x20 || line[first] == 0x09 { first += 1 }
        while last > first, line[last - 1] == 0x20 || line[last - 1] == 0x09 { last -= 1 }
        bytes += line[..<colon]
        bytes.append(0)
        bytes += line[first..<last]
        bytes.append(0)
    }

    func value(of name: String) -> String? {
        let values = self.values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// One element a line, in their order.
    func values(of name: String) -> [String] {
        var values: [String] = []
        let (bytes, wanted) = (bytes.span, name.utf8.span)
        var start = 0
        while start < bytes.count {
            let nameEnd = HeaderFields.end(from: start, in: bytes)
            let valueEnd = HeaderFields.end(from: nameEnd + 1, in: bytes)
            if HeaderFields.isSame(bytes.extracting(start..<nameEnd), wanted) {
                values.append(String(decoding: self.bytes[nameEnd + 1..<valueEnd], as: UTF8.self))
            }
            start = valueEnd + 1
        }
        return values
    }

    /// Where the next NUL stands.
    private static func end(from start: Int, in bytes: Span<UInt8>) -> Int {
        var place = start
        while place < bytes.count, bytes[place] != 0 { place += 1 }
        return place
    }

    private static func isSame(_ name: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard name.count == other.count else { return false }
        for place in name.indices where !sameLetter(name[place], other[place]) { return false }
        return true
    }

    fileprivate static func sameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || (left ^ right == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
    }

    /// Of a token (RFC 9110, 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool { tokenBytes[Int(byte)] }

    private static let tokenBytes = (UInt8.min...UInt8.max).map { byte in
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}

extension StringProtocol {
    /// Whether it is this word of the protocol, in capital or small letters of ASCII. `lowercased` would also make letters of
    /// signs that no other reader takes for them: a `k` of the sign for Kelvin.
    func isWord(_ word: String) -> Bool {
        utf8.count == word.utf8.count && utf8.elementsEqual(word.utf8, by: HeaderFields.sameLetter)
    }
}
