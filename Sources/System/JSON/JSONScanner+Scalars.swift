extension JSONScanner {
    /// Reads a string whose opening quote is at `position`.
    mutating func string() throws(JSONFault) {
        let start = position
        var holdsLoneSurrogate = false
        position += 1
        while true {
            switch try peek() {
            case UInt8(ascii: "\""):
                position += 1
                if holdsLoneSurrogate { replace(start..<position, with: "\"?\"", because: .surrogate) }
                return
            case UInt8(ascii: "\\"):
                if try !escape() { holdsLoneSurrogate = true }
            case 0..<0x20:
                throw JSONFault(offset: position, "a string contains a control character")
            default:
                position += 1
            }
        }
    }

    /// Reads an escape, or both escapes of a surrogate pair; false for a lone surrogate.
    private mutating func escape() throws(JSONFault) -> Bool {
        position += 1
        switch try peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
            return true
        case UInt8(ascii: "u"):
            position += 1
        default:
            throw JSONFault(offset: position, "a string contains an unknown escape sequence")
        }
        let unit = try codeUnit()
        switch unit {
        case 0xd800..<0xdc00:
            guard bytes[position...].starts(with: "\\u".utf8) else { return false }
            let beforeSecond = position
            position += 2
            if try (0xdc00..<0xe000).contains(codeUnit()) { return true }
            // The second escape may begin its own pair.
            position = beforeSecond
            return false
        case 0xdc00..<0xe000:
            return false
        default:
            return true
        }
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(try peek())).hexDigitValue else {
                throw JSONFault(offset: position, "\\u needs four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private func peek() throws(JSONFault) -> UInt8 {
        guard position < bytes.count else { throw JSONFault(offset: position, "it ends within a string") }
        return bytes[position]
    }

    /// Reads a number whose sign or first digit is at `position`.
    mutating func number() throws(JSONFault) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        var isInteger = true
        var exponentDigits = 0
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            let exponent = position
            try digits()
            exponentDigits = position - exponent
        }
        let fits =
            isInteger
            ? fitsWord(start..<position)
            : (position - start < 200 && exponentDigits < 3) || fitsDouble(start..<position)
        if !fits { replace(start..<position, with: "0", because: .number) }
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        if position == start { throw JSONFault(offset: position, "a digit is expected here") }
    }

    private func fitsWord(_ range: Range<Int>) -> Bool {
        if range.count < 19 { return true }
        if range.count > 20 { return false }
        let text = String(decoding: bytes[range], as: UTF8.self)
        return Int64(text) != nil || UInt64(text) != nil
    }

    private func fitsDouble(_ range: Range<Int>) -> Bool {
        Double(String(decoding: bytes[range], as: UTF8.self))?.isFinite ?? false
    }
}
