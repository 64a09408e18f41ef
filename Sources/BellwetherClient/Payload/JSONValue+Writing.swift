extension JSONValue {
    /// Appends the value as JSON, without a space in it.
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
