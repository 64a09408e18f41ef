/// Writes values as the shortest JSON, without repeated keys.
package struct JSONWriter {
    package var bytes: [UInt8] = []

    package init() {}

    /// Whether nothing has been written yet.
    package var isEmpty: Bool { bytes.isEmpty }

    /// Writes a value without the members, at any depth, that `isOmitted` names. If a key is repeated, the last one
    /// wins.
    package mutating func write(_ value: JSONValue, omitting isOmitted: (JSONText) -> Bool) {
        switch value.kind {
        case .object: write(membersOf: value, omitting: isOmitted)
        case .array: write(elementsOf: value, omitting: isOmitted)
        case .string: if let text = value.text { write(text) }
        case .number: if let number = value.number { write(number) }
        case .boolean: write(raw: value.boolean == true ? "true" : "false")
        case .null: write(raw: "null")
        }
    }

    private mutating func write(membersOf object: JSONValue, omitting isOmitted: (JSONText) -> Bool) {
        var isFirst = true
        write(raw: "{")
        for (key, value) in object.distinctMembers(where: { key in !isOmitted(key) }) {
            if !isFirst { write(raw: ",") }
            isFirst = false
            write(key)
            write(raw: ":")
            write(value, omitting: isOmitted)
        }
        write(raw: "}")
    }

    private mutating func write(elementsOf array: JSONValue, omitting isOmitted: (JSONText) -> Bool) {
        var isFirst = true
        write(raw: "[")
        for element in array.elements {
            if !isFirst { write(raw: ",") }
            isFirst = false
            write(element, omitting: isOmitted)
        }
        write(raw: "]")
    }

    private mutating func write(_ number: JSONValue.Number) {
        switch number {
        case .signed(let number): bytes.append(contentsOf: String(number).utf8)
        case .unsigned(let number): bytes.append(contentsOf: String(number).utf8)
        // The shortest digits that read back as the same number; a parsed number is always finite.
        case .double(let number): bytes.append(contentsOf: number.description.utf8)
        }
    }

    /// Writes text that is already JSON.
    package mutating func write(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a string in quotes.
    package mutating func write(_ text: JSONText) {
        bytes.append(UInt8(ascii: "\""))
        let letters = unsafe text.utf8
        for index in 0..<letters.count { write(escaping: unsafe letters[index]) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string in quotes.
    package mutating func write(_ text: ArraySlice<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text { write(escaping: byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0..<0x20:
            write(raw: byte < 0x10 ? "\\u000" : "\\u001")
            bytes.append(byte & 0xf < 10 ? UInt8(ascii: "0") + byte & 0xf : UInt8(ascii: "a") + byte & 0xf - 10)
        default:
            bytes.append(byte)
        }
    }
}
