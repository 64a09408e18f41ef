internal import Glibc

/// The text of a string or key, unescaped, borrowed from its parser. Always valid UTF-8.
@safe package struct JSONText: Equatable {
    // SAFETY: as for `JSONValue`.
    @usableFromInline let start: UnsafePointer<UInt8>
    package let count: Int

    @inlinable
    init(start: UnsafePointer<UInt8>, count: Int) {
        unsafe self.start = start
        self.count = count
    }

    package var isEmpty: Bool { @inlinable get { count == 0 } }

    /// Whether the text is exactly this word.
    @inlinable
    package func spells(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        let letters = unsafe word.utf8Start
        var position = 0
        while position < count {
            guard unsafe start[position] == letters[position] else { return false }
            position += 1
        }
        return true
    }

    @inlinable
    package func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        return unsafe body(bytes.span)
    }

    /// A copy that may be kept.
    package var string: String {
        @inlinable get {
            unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }

    /// A copy of its UTF-8.
    package var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

    /// The same bytes; Unicode's equivalences do not count in JSON.
    package static func == (left: JSONText, right: JSONText) -> Bool {
        unsafe left.count == right.count && memcmp(left.start, right.start, left.count) == 0
    }

    package var holdsNUL: Bool {
        unsafe memchr(start, 0, count) != nil
    }

    /// The first byte, 0 for an empty text.
    package var first: UInt8 { @inlinable get { count > 0 ? unsafe start[0] : 0 } }
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
