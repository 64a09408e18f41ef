internal import Glibc

/// The unescaped text of a string or key, borrowed from its parser. It is always valid UTF-8.
@safe package struct JSONText: Equatable {
    // SAFETY: as for `JSONValue`.
    private let start: UnsafePointer<UInt8>
    package let count: Int

    init(start: UnsafePointer<UInt8>, count: Int) {
        unsafe self.start = start
        self.count = count
    }

    package var isEmpty: Bool { count == 0 }

    /// Whether the text is exactly this word.
    package func spells(_ word: StaticString) -> Bool {
        unsafe count == word.utf8CodeUnitCount && memcmp(start, word.utf8Start, count) == 0
    }

    // SAFETY: like the text itself, these bytes must not be kept by the caller.
    /// The bytes in place.
    package var utf8: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }

    /// A copy that may be kept.
    package var string: String {
        unsafe String(decoding: utf8, as: UTF8.self)
    }

    /// A copy of its UTF-8.
    package var bytes: [UInt8] { unsafe Array(utf8) }

    /// Compares bytes: JSON ignores Unicode's equivalences.
    package static func == (left: JSONText, right: JSONText) -> Bool {
        unsafe left.count == right.count && memcmp(left.start, right.start, left.count) == 0
    }

    /// Whether these bytes, a range of an array, are the same.
    package func equals(_ bytes: borrowing [UInt8], from start: Int, to end: Int) -> Bool {
        guard end - start == count else { return false }
        let other = bytes.span.extracting(start..<end)
        return unsafe other.withUnsafeBufferPointer { other in
            unsafe other.baseAddress.map { unsafe memcmp($0, self.start, count) == 0 } ?? true
        }
    }

    /// Appends its bytes.
    package func append(to bytes: inout [UInt8]) { unsafe bytes.append(contentsOf: utf8) }

    package var holdsNUL: Bool {
        unsafe memchr(start, 0, count) != nil
    }
}

extension JSONText {
    /// A quick check whether the raw bytes of a document contain U+0000. It also matches an escaped backslash before
    /// `u0000`, so after a yes, `JSONValue.holdsNUL` must confirm it.
    package static func mayHoldNUL(in document: Span<UInt8>) -> Bool {
        unsafe document.withUnsafeBufferPointer { document in
            guard let start = document.baseAddress else { return false }
            var place = 0
            // SAFETY: `place` never passes the end, and six bytes are compared only if six are left.
            while let backslash = unsafe memchr(start + place, 0x5c, document.count - place) {
                let found = unsafe UnsafeRawPointer(backslash) - UnsafeRawPointer(start)
                guard document.count - found >= 6 else { return false }
                if unsafe memcmp(backslash, "\\u0000", 6) == 0 { return true }
                place = found + 1
            }
            return false
        }
    }
}
