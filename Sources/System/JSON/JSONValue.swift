/// A value of a parsed document, borrowed from its parser.
///
/// A position on simdjson's tape: 64-bit words with a tag in the highest byte. A container's word says where it ends, a
/// string's word where its bytes are, and a number is in the next word. So everything here is arithmetic.
@safe package struct JSONValue {
    // SAFETY: both point into buffers of the parser; `JSONParser.withDocument` says how long they are valid. simdjson
    // wrote the tape, and its words only point to places inside the two buffers.
    private let tape: UnsafePointer<UInt64>
    private let strings: UnsafePointer<UInt8>

    /// The position of this value in its document; never 0.
    package let position: Int

    init(tape: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, position: Int) {
        unsafe self.tape = tape
        unsafe self.strings = strings
        self.position = position
    }

    /// The value at a position that another value of the same document returned.
    package func value(at position: Int) -> JSONValue {
        unsafe JSONValue(tape: tape, strings: strings, position: position)
    }

    private var word: UInt64 { unsafe tape[position] }

    var tag: UInt8 { UInt8(truncatingIfNeeded: word >> 56) }

    /// The position after this value.
    package var end: Int {
        switch tag {
        case Tag.object, Tag.array: Int(word & 0xffff_ffff)
        case Tag.signed, Tag.unsigned, Tag.double: position + 2
        default: position + 1
        }
    }

    /// The tape's tags for the kinds of values.
    enum Tag {
        static let object = UInt8(ascii: "{")
        static let array = UInt8(ascii: "[")
        static let string = UInt8(ascii: "\"")
        static let signed = UInt8(ascii: "l")
        static let unsigned = UInt8(ascii: "u")
        static let double = UInt8(ascii: "d")
        static let yes = UInt8(ascii: "t")
        static let no = UInt8(ascii: "f")
        static let null = UInt8(ascii: "n")
    }
}

extension JSONValue {
    /// The kind of a value.
    package enum Kind: Hashable, Sendable {
        case object, array, string, number, boolean, null
    }

    package var kind: Kind {
        switch tag {
        case Tag.object: .object
        case Tag.array: .array
        case Tag.string: .string
        case Tag.yes, Tag.no: .boolean
        case Tag.null: .null
        default: .number
        }
    }

    package var isObject: Bool { tag == Tag.object }
    package var isArray: Bool { tag == Tag.array }
    package var isNull: Bool { tag == Tag.null }

    /// The text of a string.
    package var text: JSONText? { tag == Tag.string ? uncheckedText : nil }

    // SAFETY: only called for a string's word: the bytes follow their 32-bit length.
    var uncheckedText: JSONText {
        let start = unsafe strings + Int(word & 0x00ff_ffff_ffff_ffff)
        let count = unsafe UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return unsafe JSONText(start: start + 4, count: Int(UInt32(littleEndian: count)))
    }

    package var boolean: Bool? { tag == Tag.yes ? true : tag == Tag.no ? false : nil }

    /// A number, as simdjson holds it.
    package enum Number: Hashable, Sendable {
        case signed(Int64)
        /// Only values beyond `Int64`.
        case unsigned(UInt64)
        case double(Double)
    }

    package var number: Number? {
        switch tag {
        case Tag.signed: unsafe .signed(Int64(bitPattern: tape[position + 1]))
        case Tag.unsigned: unsafe .unsigned(tape[position + 1])
        case Tag.double: unsafe .double(Double(bitPattern: tape[position + 1]))
        default: nil
        }
    }

    /// The number of members or elements, up to 16,777,215, the limit of the tape. 0 for other values.
    package var count: Int { isObject || isArray ? Int(word >> 32 & 0xff_ffff) : 0 }
}
