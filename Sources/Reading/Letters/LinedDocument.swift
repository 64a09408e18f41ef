internal import JSON

/// On which line each value of a JSON document begins. The parser keeps the values in the order of the text, but not
/// where they were.
struct LinedDocument {
    private var lines: [Int: Int] = [:]

    /// `bytes` are the text of the document; they are valid JSON.
    init(_ root: JSONValue, of bytes: [UInt8]) {
        var tokens = TokenLines(bytes)
        note(root, &tokens)
    }

    func line(of value: JSONValue) -> Int { lines[value.position] ?? 1 }

    /// The text says which documents nest how deep: `PlacesFile` bounds it.
    private mutating func note(_ value: JSONValue, _ tokens: inout TokenLines) {
        lines[value.position] = tokens.next()
        for (_, member) in value.members {
            _ = tokens.next()
            note(member, &tokens)
        }
        for element in value.elements { note(element, &tokens) }
    }
}

/// The lines on which the values and keys of a text begin, one after another.
private struct TokenLines {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> Int {
        skip { $0 <= 0x20 || ":,]}".utf8.contains($0) }
        let begun = line
        guard place < bytes.count else { return begun }
        switch bytes[place] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): place += 1
        case UInt8(ascii: "\""): skipString()
        default: skip { $0 > 0x20 && !":,]}".utf8.contains($0) }
        }
        return begun
    }

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while place < bytes.count, isSkipped(bytes[place]) {
            if bytes[place] == UInt8(ascii: "\n") { line += 1 }
            place += 1
        }
    }

    private mutating func skipString() {
        place += 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place += 1
    }
}
