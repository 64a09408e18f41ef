/// Header fields in one piece of memory: a request allocates once for all of them, and a value becomes a `String` only
/// when somebody asks for it.
struct HeaderFields: Sendable {
    /// Name, NUL, value, NUL, and so on. libmicrohttpd's fields end at the first NUL, so none can be inside.
    private var bytes: [UInt8] = []
    /// A value went on in the next line, as old HTTP allowed: libmicrohttpd then glues the second line to the *name*, and
    /// `Transfer-Encoding` is no longer what the proxy before us took it for.
    private(set) var hasFolds = false

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Both as they lie in libmicrohttpd's buffer.
    mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if unsafe !HeaderFields.areOnOneLine(name, value) { hasFolds = true }
        unsafe bytes.append(contentsOf: name)
        bytes.append(0)
        unsafe bytes.append(contentsOf: value)
        bytes.append(0)
    }

    func value(of name: String) -> String? {
        let values = self.values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// One element a line, in their order.
    func values(of name: String) -> [String] {
        var values: [String] = []
        var position = bytes.startIndex
        while let (field, value) = next(&position) {
            guard field.count == name.utf8.count, field.elementsEqual(name.utf8, by: HeaderFields.sameLetter) else {
                continue
            }
            values.append(String(decoding: value, as: UTF8.self))
        }
        return values
    }

    /// Every name is a token (RFC 9110, 5.6.2). libmicrohttpd takes `Content-Length : 5` for a field it does not know;
    /// the proxy before it may know better, and the two would disagree on where the body ends.
    var namesAreTokens: Bool {
        var position = bytes.startIndex
        while let (field, _) = next(&position) {
            guard !field.isEmpty, field.allSatisfy(HeaderFields.isTokenByte) else { return false }
        }
        return true
    }

    /// Between the name and its value are the place of the colon and white space, unless the name was moved to make room
    /// for a second line.
    private static func areOnOneLine(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        guard let start = name.baseAddress, let end = value.baseAddress else { return false }
        let colon = unsafe start + name.count
        guard unsafe colon < end else { return false }
        // SAFETY: both lie in one buffer of one connection, so what is between them does too.
        return unsafe UnsafeRawBufferPointer(start: colon + 1, count: end - colon - 1)
            .allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private func next(_ position: inout Int) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        guard position < bytes.endIndex,
            let nameEnd = bytes[position...].firstIndex(of: 0),
            let valueEnd = bytes[(nameEnd + 1)...].firstIndex(of: 0)
        else { return nil }
        defer { position = valueEnd + 1 }
        return (bytes[position..<nameEnd], bytes[(nameEnd + 1)..<valueEnd])
    }

    private static func sameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || (left ^ right == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
        }
    }
}
