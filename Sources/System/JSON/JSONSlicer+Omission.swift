extension JSONSlicer {
    /// A copy of a value without the members with these names, at any depth; all other bytes are unchanged. Nil if
    /// there are no such members, so that the original bytes can be used.
    ///
    /// Returns at most `limit` bytes and one more. The names must consist of ASCII letters and `_`; keys are compared
    /// after unescaping. The value must be well-formed, but may be one that cannot be held.
    package static func omitting(
        _ names: [StaticString], from bytes: Span<UInt8>, upTo limit: Int
    ) -> [UInt8]? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            return slicer.omitting(names, upTo: limit)
        }
    }

    /// Goes from token to token. Of the containers around a token, at any depth, it only needs to know whether a comma
    /// precedes the next key: a string is a key if a colon follows, and members are skipped as a whole.
    private mutating func omitting(_ names: [StaticString], upTo limit: Int) -> [UInt8]? {
        var kept: [UInt8] = []
        // Everything from here on is kept, but not copied yet.
        var uncopied = 0
        var comma: Int?
        var omitsAny = false
        while position < end {
            let start = position
            switch current {
            case UInt8(ascii: "{"):
                comma = nil
                position += 1
            case UInt8(ascii: ","):
                comma = start
                position += 1
            case UInt8(ascii: "\""):
                guard skipMember(named: names) else { continue }
                omitsAny = true
                // Remove the comma before the member, too. The first member has none, so remove the one after it.
                append(uncopied..<max(uncopied, comma ?? start), to: &kept, upTo: limit)
                if comma == nil { skipComma() }
                uncopied = position
            default:
                position += 1
            }
        }
        guard omitsAny else { return nil }
        append(uncopied..<end, to: &kept, upTo: limit)
        return kept
    }

    /// Passes a string. If it is the key of a member with one of the names, passes the whole member and returns true.
    private mutating func skipMember(named names: [StaticString]) -> Bool {
        let start = position
        skipString()
        let key = start + 1..<max(start + 1, position - 1)
        guard names.contains(where: { name in spells(name, key) }) else { return false }
        skipSpace()
        guard current == UInt8(ascii: ":") else { return false }
        position += 1
        skipSpace()
        skipValue()
        return true
    }

    /// Passes a comma if one is next, and the spaces around it.
    private mutating func skipComma() {
        let start = position
        skipSpace()
        guard current == UInt8(ascii: ",") else {
            position = start
            return
        }
        position += 1
        skipSpace()
    }

    private func append(_ range: Range<Int>, to kept: inout [UInt8], upTo limit: Int) {
        let room = max(0, limit + 1 - kept.count)
        // SAFETY: the range is between two positions that the walk has passed.
        unsafe kept.append(contentsOf: bytes[range.prefix(room)])
    }

    /// Whether the string between these quotes is the name, however it is escaped.
    private func spells(_ name: StaticString, _ key: Range<Int>) -> Bool {
        guard key.count >= name.utf8CodeUnitCount else { return false }
        var place = key.lowerBound
        return name.withUTF8Buffer { letters in
            for index in 0..<letters.count {
                guard place < key.upperBound, unsafe letter(at: &place, in: key) == letters[index] else { return false }
            }
            return place == key.upperBound
        }
    }

    /// The ASCII letter at a position of a string, plain or as `\u` and four digits; 0 for anything else.
    private func letter(at place: inout Int, in string: Range<Int>) -> UInt8 {
        // SAFETY: the position is checked to be within the string, which is within the bytes.
        guard unsafe bytes[place] == UInt8(ascii: "\\") else {
            defer { place += 1 }
            return unsafe bytes[place]
        }
        guard string.upperBound - place >= 6, unsafe bytes[place + 1] == UInt8(ascii: "u") else { return 0 }
        defer { place += 6 }
        var unit = 0
        for digit in place + 2..<place + 6 {
            guard let value = unsafe Character(UnicodeScalar(bytes[digit])).hexDigitValue else { return 0 }
            unit = unit << 4 | value
        }
        return UInt8(exactly: unit) ?? 0
    }
}
