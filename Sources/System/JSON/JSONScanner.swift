internal import CSimdJSON

/// A strict checker for RFC 8259, for documents that simdjson refused. It only validates.
///
/// It separates text that is not JSON, with the place of the fault, from JSON that is well-formed but cannot be held:
/// integers beyond 64 bits, numbers beyond a double, lone surrogates, and nesting deeper than a limit. It never
/// recurses: each level costs one bit.
package struct JSONScanner {
    var bytes: [UInt8]
    let limit: Int
    var position = 0
    var misfits: [JSONMisfit] = []
    private var open = BitStack()
    /// The start of the outermost container beyond the depth limit, while inside it.
    private var tooDeepSince: Int?

    /// Reads a whole document and overwrites each misfit in place with a harmless value of the same length, so that
    /// simdjson can read the rest: numbers and containers that are too deep become 0, strings become "?". Throws where
    /// the bytes stop being JSON, and changes nothing then.
    ///
    /// `limit` is the number of levels allowed. The misfits are returned in document order.
    package static func mend(_ bytes: inout [UInt8], limit: Int) throws(JSONFault) -> [JSONMisfit] {
        if let fault = faultyUTF8(bytes.span) { throw fault }
        var scanner = JSONScanner(bytes: bytes, limit: limit)
        try scanner.scan()
        bytes = scanner.bytes
        return scanner.misfits
    }

    private init(bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    private static func faultyUTF8(_ bytes: Span<UInt8>) -> JSONFault? {
        let isUTF8 = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bw_json_is_utf8(bytes.baseAddress, bytes.count)
        }
        guard !isUTF8 else { return nil }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes)
            return nil
        } catch {
            return JSONFault(offset: error.byteOffsets.lowerBound, "the text is not UTF-8")
        }
    }

    private enum Expected {
        case value, firstElement, firstKey, key, separator, end
    }

    private mutating func scan() throws(JSONFault) {
        var expected = Expected.value
        while true {
            skipSpace()
            if position == bytes.count {
                if expected == .end { return }
                throw JSONFault(offset: position, bytes.isEmpty ? "there is nothing" : "it ends too early")
            }
            let byte = bytes[position]
            switch (expected, byte) {
            case (.firstElement, UInt8(ascii: "]")), (.firstKey, UInt8(ascii: "}")):
                expected = close()
            case (.value, _), (.firstElement, _):
                expected = try value(byte)
            case (.key, UInt8(ascii: "\"")), (.firstKey, UInt8(ascii: "\"")):
                try string()
                try colon()
                expected = .value
            case (.key, _), (.firstKey, _):
                throw JSONFault(offset: position, "a member's name in quotes is expected here")
            case (.separator, UInt8(ascii: ",")):
                position += 1
                expected = open.last ? .key : .value
            case (.separator, UInt8(ascii: "}")) where open.last, (.separator, UInt8(ascii: "]")) where !open.last:
                expected = close()
            case (.separator, _):
                throw JSONFault(offset: position, "a comma or \(open.last ? "}" : "]") is expected here")
            case (.end, _):
                throw JSONFault(offset: position, "something follows after the end")
            }
        }
    }

    private mutating func value(_ byte: UInt8) throws(JSONFault) -> Expected {
        switch byte {
        case UInt8(ascii: "{"): return begin(object: true)
        case UInt8(ascii: "["): return begin(object: false)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw JSONFault(offset: position, "a value is expected here")
        }
        return open.isEmpty ? .end : .separator
    }

    private mutating func begin(object: Bool) -> Expected {
        open.push(object)
        if open.count == limit + 1 {
            tooDeepSince = position
            misfits.append(JSONMisfit(offset: position, .nesting))
        }
        position += 1
        return object ? .firstKey : .firstElement
    }

    private mutating func close() -> Expected {
        position += 1
        if open.count == limit + 1, let start = tooDeepSince {
            overwrite(start..<position, with: "0")
            tooDeepSince = nil
        }
        open.pop()
        return open.isEmpty ? .end : .separator
    }

    private mutating func colon() throws(JSONFault) {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            throw JSONFault(offset: position, "a colon is expected here")
        }
        position += 1
    }

    private mutating func literal(_ word: StaticString) throws(JSONFault) {
        let end = position + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { word in unsafe bytes[position...].starts(with: word) }
        guard matches else { throw JSONFault(offset: position, "a value is expected here") }
        position = end
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
            default: return
            }
        }
    }

    /// Records a misfit, and overwrites it with the replacement and spaces.
    mutating func replace(_ range: Range<Int>, with replacement: StaticString, because kind: JSONMisfit.Kind) {
        // A container that is too deep is replaced as a whole, with everything in it.
        guard tooDeepSince == nil else { return }
        misfits.append(JSONMisfit(offset: range.lowerBound, kind))
        overwrite(range, with: replacement)
    }

    private mutating func overwrite(_ range: Range<Int>, with replacement: StaticString) {
        for index in range { bytes[index] = UInt8(ascii: " ") }
        replacement.withUTF8Buffer { letters in
            for index in 0..<letters.count { unsafe bytes[range.lowerBound + index] = letters[index] }
        }
    }
}

/// Where a document stops being JSON.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let offset: Int
    package let reason: String

    init(offset: Int, _ reason: String) {
        self.offset = offset
        self.reason = reason
    }

    /// A clause for people, such as `a colon is expected here (byte 17)`; bytes are counted from 0.
    package var description: String { "\(reason) (byte \(offset))" }
}

/// A well-formed value that neither simdjson nor `jsonb` can hold.
package struct JSONMisfit: Hashable, Sendable {
    // A hostile body may consist of misfits. At eight bytes each, they use less memory than the body.
    private let place: UInt32
    package let kind: Kind

    init(offset: Int, _ kind: Kind) {
        place = UInt32(offset)
        self.kind = kind
    }

    /// Its offset in the document.
    package var offset: Int { Int(place) }

    /// What is wrong with it.
    package enum Kind: UInt8, Hashable, Sendable {
        case number, surrogate, nesting
    }
}

/// A stack of booleans, one bit each.
private struct BitStack {
    private var words: [UInt64] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The top bit; false for an empty stack.
    var last: Bool { count > 0 && words[(count - 1) / 64] >> UInt64((count - 1) % 64) & 1 == 1 }

    mutating func push(_ bit: Bool) {
        if count / 64 == words.count { words.append(0) }
        let mask = UInt64(1) << UInt64(count % 64)
        words[count / 64] = bit ? words[count / 64] | mask : words[count / 64] & ~mask
        count += 1
    }

    mutating func pop() { count -= 1 }
}
