/// Header fields in one block of memory: a request allocates once for all of them, and a value becomes a `String` only
/// when it is asked for.
struct HeaderFields: Sendable {
    /// For each field the lengths of its name and of its value, two bytes each, then both. A head has at most 16 KiB.
    private var bytes: [UInt8] = []

    /// Parses complete lines, each with its CR and LF. A name is a token directly before its colon (RFC 9112, 5.1), and
    /// a line cannot continue on the next one (5.2): readers disagree about `Content-Length : 5` and about folded
    /// lines.
    init(_ lines: ArraySlice<UInt8>) throws(RequestFault) {
        // A field has one colon and two bytes of line end.
        bytes.reserveCapacity(lines.count + lines.count / 2)
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
        append(length: colon - line.startIndex)
        append(length: last - first)
        bytes += line[..<colon]
        bytes += line[first..<last]
    }

    private mutating func append(length: Int) {
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
    }

    /// Calls `body` with each value of a field, in order: one value per line.
    func each(_ name: StaticString, _ body: (Span<UInt8>) -> Void) {
        let bytes = bytes.span
        var start = 0
        while start < bytes.count {
            let nameCount = Int(bytes[start]) << 8 | Int(bytes[start + 1])
            let valueCount = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
            let value = start + 4 + nameCount
            if HeaderFields.isWord(bytes.extracting((start + 4)..<value), name) {
                body(bytes.extracting(value..<(value + valueCount)))
            }
            start = value + valueCount
        }
    }

    func values(of name: StaticString) -> [String] {
        var values: [String] = []
        each(name) { value in
            values.append(unsafe value.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) })
        }
        return values
    }

    func value(of name: StaticString) -> String? {
        let values = values(of: name)
        return values.count > 1 ? values.joined(separator: ", ") : values.first
    }

    /// Whether it is this word of the protocol, in capital or small letters of ASCII.
    static func isWord(_ bytes: Span<UInt8>, _ word: StaticString) -> Bool {
        guard bytes.count == word.utf8CodeUnitCount else { return false }
        // SAFETY: a word of more than one letter is a pointer, to as many bytes as it says.
        for index in bytes.indices where !sameLetter(bytes[index], unsafe word.utf8Start[index]) { return false }
        return true
    }

    /// Calls `body` with each element of a list, without the spaces around it (RFC 9110, 5.6.1).
    static func eachElement(of list: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start <= list.count {
            var end = start
            while end < list.count, list[end] != UInt8(ascii: ",") { end += 1 }
            var (first, last) = (start, end)
            while first < last, list[first] == 0x20 || list[first] == 0x09 { first += 1 }
            while last > first, list[last - 1] == 0x20 || list[last - 1] == 0x09 { last -= 1 }
            body(list.extracting(first..<last))
            start = end + 1
        }
    }

    fileprivate static func sameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || (left ^ right == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
    }

    /// Whether the byte may be in a token (RFC 9110, 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool { tokenBytes[Int(byte)] }

    private static let tokenBytes = (UInt8.min...UInt8.max).map { byte in
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}

extension StringProtocol {
    /// Whether it is this word of the protocol, ignoring ASCII case. `lowercased` would also turn other characters into
    /// letters, which no other reader does: the Kelvin sign into a `k`.
    func isWord(_ word: String) -> Bool {
        utf8.count == word.utf8.count && utf8.elementsEqual(word.utf8, by: HeaderFields.sameLetter)
    }
}
