extension JSONSlicer {
    /// A value without the members of these names, at any depth, and otherwise byte for byte what it was; nil when there
    /// are no such members, so that the bytes may be used as they are.
    ///
    /// Of a longer result only the first `limit` bytes and one more are given. The names are of ASCII letters and `_`;
    /// keys are compared with them unescaped. The value must be well-formed, but need not be one that can be held.
    package static func omitting(
        _ names: [StaticString], from bytes: Span<UInt8>, upTo limit: Int
    ) -> [UInt8]? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            return slicer.omitting(names, upTo: limit)
        }
    }

    /// Goes from token to token. What has to be known of the containers around, at whatever depth, is only whether a
    /// comma stands before the next key: a string is a key when a colon follows it, and members go as a whole.
    private mutating func omitting(_ names: [StaticString], upTo limit: Int) -> [UInt8]? {
        var kept: [UInt8] = []
        // What has been passed from here on stays, and is not copied yet.
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
                // The comma before it goes along. The first member has none, so the one after it goes instead.
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

    /// Passes a string, and if it is the key of a member with one of the names, the whole member: true.
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

    /// Passes a comma, if one is next, and the space around it.
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
        // SAFETY: the range lies between two positions that the walk has passed.
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

    /// The ASCII letter at a place of a string, written out or as `\u` and four digits; 0 for anything else.
    private func letter(at place: inout Int, in string: Range<Int>) -> UInt8 {
        // SAFETY: the place is checked to lie in the string, which lies in the bytes.
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
