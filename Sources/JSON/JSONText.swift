internal import Glibc

/// The text of a string or key, unescaped, borrowed from its parser. Always valid UTF-8.
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

    // SAFETY: as for the text itself, whoever asks for these may not keep them.
    /// The bytes where they are.
    package var utf8: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }

    /// A copy that may be kept.
    package var string: String {
        unsafe String(decoding: utf8, as: UTF8.self)
    }

    /// A copy of its UTF-8.
    package var bytes: [UInt8] { unsafe Array(utf8) }

    /// The same bytes; Unicode's equivalences do not count in JSON.
    package static func == (left: JSONText, right: JSONText) -> Bool {
        unsafe left.count == right.count && memcmp(left.start, right.start, left.count) == 0
    }

    /// Whether these bytes, from one place of an array to another, are the same.
    package func equals(_ bytes: borrowing [UInt8], from start: Int, to end: Int) -> Bool {
        guard end - start == count else { return false }
        let other = bytes.span.extracting(start..<end)
        return unsafe other.withUnsafeBufferPointer { other in
            unsafe other.baseAddress.map { unsafe memcmp($0, self.start, count) == 0 } ?? true
        }
    }

    /// Copies it behind what is there.
    package func append(to bytes: inout [UInt8]) { unsafe bytes.append(contentsOf: utf8) }

    package var holdsNUL: Bool {
        unsafe memchr(start, 0, count) != nil
    }
}

extension JSONText {
    /// Whether the raw bytes of a document spell U+0000 anywhere, as far as a quick look tells: an escaped backslash
    /// before `u0000` is taken for it too, so a yes asks for a closer look with `JSONValue.holdsNUL`.
    package static func mayHoldNUL(in document: Span<UInt8>) -> Bool {
        unsafe document.withUnsafeBufferPointer { document in
            guard let start = document.baseAddress else { return false }
            var place = 0
            // SAFETY: `place` never passes the end, and six bytes are compared only where six are left.
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
