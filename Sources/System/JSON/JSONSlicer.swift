/// Finds where values begin and end in bytes that are known to be well-formed JSON.
///
/// simdjson's tape does not record where a value was in the text. This walks the bytes once, without validating or
/// recursing.
@safe package struct JSONSlicer {
    // SAFETY: the pointer is valid during the call of `withBytes` that made this value. Each step checks for the end.
    let bytes: UnsafeBufferPointer<UInt8>
    let end: Int
    var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = bytes
        end = bytes.count
    }

    /// The value of an object's member, counted from 0; nil if there is no such member.
    package static func value(ofMember ordinal: Int, ofObjectAt start: Int, in bytes: Span<UInt8>) -> Range<Int>? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            return slicer.value(ofMember: ordinal, ofObjectAt: start)
        }
    }

    /// The elements of an array.
    package static func elements(ofArrayAt start: Int, in bytes: Span<UInt8>) -> [Range<Int>] {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            return slicer.elements(ofArrayAt: start)
        }
    }

    /// The keys, with their quotes, and the values of an object's members, in order.
    package static func members(
        ofObjectAt start: Int, in bytes: Span<UInt8>
    ) -> [(key: Range<Int>, value: Range<Int>)] {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            return slicer.members(ofObjectAt: start)
        }
    }

    /// Where the document's value begins.
    package static func root(in bytes: Span<UInt8>) -> Int {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            slicer.skipSpace()
            return slicer.position
        }
    }

    private mutating func value(ofMember ordinal: Int, ofObjectAt start: Int) -> Range<Int>? {
        position = start + 1
        var passed = 0
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { return nil }
            skipString()
            skipSpace()
            position += 1
            skipSpace()
            let value = position
            skipValue()
            if passed == ordinal { return value..<position }
            passed += 1
            skipSpace()
            guard current == UInt8(ascii: ",") else { return nil }
            position += 1
        }
    }

    private mutating func members(ofObjectAt start: Int) -> [(key: Range<Int>, value: Range<Int>)] {
        var members: [(key: Range<Int>, value: Range<Int>)] = []
        position = start + 1
        skipSpace()
        while current == UInt8(ascii: "\"") {
            let key = position
            skipString()
            let keyEnd = position
            skipSpace()
            position += 1
            skipSpace()
            let value = position
            skipValue()
            members.append((key..<keyEnd, value..<position))
            skipSpace()
            guard current == UInt8(ascii: ",") else { break }
            position += 1
            skipSpace()
        }
        return members
    }

    private mutating func elements(ofArrayAt start: Int) -> [Range<Int>] {
        var elements: [Range<Int>] = []
        position = start + 1
        skipSpace()
        while position < end, current != UInt8(ascii: "]") {
            let value = position
            skipValue()
            elements.append(value..<position)
            skipSpace()
            guard current == UInt8(ascii: ",") else { break }
            position += 1
            skipSpace()
        }
        return elements
    }

    /// The current byte; 0 past the end.
    var current: UInt8 {
        position < end ? unsafe bytes[position] : 0
    }

    mutating func skipSpace() {
        while position < end, unsafe bytes[position] <= UInt8(ascii: " ") { position += 1 }
    }

    mutating func skipString() {
        position += 1
        while position < end {
            switch unsafe bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        position = end
    }

    mutating func skipValue() {
        switch current {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipContainer()
        default: skipScalar()
        }
    }

    private mutating func skipContainer() {
        var depth = 0
        while position < end {
            let byte = unsafe bytes[position]
            if byte == UInt8(ascii: "\"") {
                skipString()
                continue
            }
            position += 1
            // Brackets and braces differ in one bit.
            switch byte | 0x20 {
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return }
            default: break
            }
        }
    }

    private mutating func skipScalar() {
        while position < end {
            switch unsafe bytes[position] {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0...UInt8(ascii: " "): return
            default: position += 1
            }
        }
    }
}
