internal import Foundation

/// A JSON value, read from a payload or written to an event.
enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSONValue])
    /// The fields keep their order when written.
    case object([Field])

    /// A member of an object.
    struct Field: Sendable, Hashable {
        let name: String
        let value: JSONValue

        init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// A member of an object; nil if this is not an object.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let fields) = self else { return nil }
        return fields.last { $0.name == name }?.value
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var list: [JSONValue]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }

    /// The value as a number. A flag is not a number.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        default: nil
        }
    }

    /// Whether the value switches something on: `1`, `true`, or `"1"` from senders that can only write strings.
    var isOn: Bool {
        switch self {
        case .flag(let flag): flag
        case .integer(let integer): integer != 0
        case .real(let real): real != 0
        case .text(let text): text == "1" || text == "true"
        default: false
        }
    }

    /// The value as a name: a string, or the digits of a whole number.
    var name: String? {
        switch self {
        case .text(let text): text
        case .integer(let integer): String(integer)
        default: nil
        }
    }

    /// The value as an object, or the object in its text: some services send custom data as JSON in a string.
    var opened: JSONValue? {
        isObject ? self : text.flatMap { JSONValue(parsingObject: $0) }
    }
}

extension JSONValue {
    /// How deep a payload is read. Deeper values become null, so that endless nesting is safe.
    static let levels = 24

    /// Reads a value of a payload dictionary. Values that JSON does not have become null.
    ///
    /// Numbers are tested before flags: in Apple's Foundation, the number 1 is also a Bool, so a test for flags would
    /// take numbers, too.
    init(reading value: Any, levels: Int = JSONValue.levels) {
        switch value {
        case let text as String: self = .text(text)
        case let integer as Int64: self = .integer(integer)
        case let integer as Int: self = .integer(Int64(integer))
        case let real as Double: self = .real(real)
        case let flag as Bool: self = .flag(flag)
        case let number as NSNumber:
            self = Int64(exactly: number.doubleValue).map(JSONValue.integer) ?? .real(number.doubleValue)
        case let list as [Any]:
            self = levels > 0 ? .list(list.map { JSONValue(reading: $0, levels: levels - 1) }) : .null
        case let object as [AnyHashable: Any]:
            guard levels > 0 else {
                self = .null
                return
            }
            self = .object(
                object.compactMap { key, value in
                    (key.base as? String).map { Field($0, JSONValue(reading: value, levels: levels - 1)) }
                })
        default: self = .null
        }
    }

    /// The object in a JSON text; nil for any other text.
    init?(parsingObject text: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            return nil
        }
        self.init(reading: object)
    }
}

extension JSONValue {
    /// Appends the value as JSON, without spaces.
    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .flag(let flag): bytes += (flag ? "true" : "false").utf8
        case .integer(let integer): bytes += String(integer).utf8
        case .real(let real): bytes += (real.isFinite ? "\(real)" : "null").utf8
        case .text(let text): JSONValue.write(text, to: &bytes)
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (place, value) in values.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let fields):
            bytes.append(UInt8(ascii: "{"))
            for (place, field) in fields.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONValue.write(field.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                field.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += "\\u00".utf8 + [hexadecimal(byte >> 4), hexadecimal(byte & 0xF)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
