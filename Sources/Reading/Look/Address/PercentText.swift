internal import Values

/// Text in an address (RFC 3986): all but letters, digits and `-._~` as `%` and two digits.
enum PercentText {
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += "%" + String(byte, digits: 2, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// `+` is a blank, as forms write it.
    static func decoded(_ text: some StringProtocol) throws(AddressFault) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { throw fault }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw fault }
        return decoded
    }

    /// The fields of a query or of a form's body, in their order.
    static func fields(of query: String) throws(AddressFault) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = try decoded(String(Substring(part[..<equals])))
            fields.append((name, try decoded(String(Substring(part[equals...].dropFirst())))))
        }
        return fields
    }

    private static let fault = AddressFault("The address has a '%' that stands for no text.")

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
