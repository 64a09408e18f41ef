/// The same numbers in every run for the same seed (splitmix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}

/// Documents that are well-formed JSON by construction, with all that is awkward in it.
struct RandomDocument {
    var random: Seeded
    /// Whether values that cannot be held may occur.
    var misfits = true
    /// Keys, as they stand between the quotes, that every third member has.
    var keys: [String] = []

    static let numbers = [
        "0", "-0", "17", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1e3", "17.0",
        "1.5E+10", "1e-400", "0e999999999999999999999", "123456789012345678901234567890.5", "4.9e-324",
        "1.7976931348623157e308", "0.1", "100000000000000000000.0", "-0.0", "1e22", "1.000000000000000000000000001",
    ]
    static let misfitNumbers = [
        "18446744073709551616", "-9223372036854775809", "1e400", "-1e309", "1.8e308", "1e99999999999999999999",
        String(repeating: "9", count: 500) + ".5", String(repeating: "7", count: 400), "99999999999999999999",
    ]
    static let strings = [
        "", "a", "type", "\\n\\\"\\\\\\/\\b\\f\\r\\t", "\\u0000", "\\u00e9", "\\ud83d\\ude00", "é😀", "\\u000A",
        "\u{7f}",
        "\\uFFFF", "\u{2028}", "0123456789012345678901234567890123456789012345678901234567890123456789",
    ]
    static let misfitStrings = [
        "\\ud800", "x\\udc00y", "\\ud800\\ud800\\udc00", "\\udbff\\u0041", "\\uD800\\n", "\\ud83d",
    ]

    mutating func value(depth: Int = 0) -> String {
        switch Int.random(in: 0..<(depth > 5 ? 6 : 10), using: &random) {
        case 0: ["true", "false", "null"].randomElement(using: &random) ?? "null"
        case 1, 2, 3: string()
        case 4, 5:
            misfits && Int.random(in: 0..<12, using: &random) == 0
                ? RandomDocument.misfitNumbers.randomElement(using: &random) ?? "1"
                : RandomDocument.numbers.randomElement(using: &random) ?? "1"
        case 6, 7: "[" + space() + list(depth) { $0.value(depth: depth + 1) } + space() + "]"
        default:
            "{" + space()
                + list(depth) { $0.key() + $0.space() + ":" + $0.space() + $0.value(depth: depth + 1) } + "}"
        }
    }

    private mutating func key() -> String {
        guard !keys.isEmpty, Int.random(in: 0..<3, using: &random) == 0 else { return string() }
        return "\"\(keys.randomElement(using: &random) ?? "")\""
    }

    private mutating func string() -> String {
        let content =
            misfits && Int.random(in: 0..<20, using: &random) == 0
            ? RandomDocument.misfitStrings.randomElement(using: &random) ?? ""
            : RandomDocument.strings.randomElement(using: &random) ?? ""
        return "\"\(content)\""
    }

    private mutating func space() -> String {
        Int.random(in: 0..<4, using: &random) == 0 ? [" ", "\n", "\t", "\r\n"].randomElement(using: &random) ?? "" : ""
    }

    private mutating func list(_ depth: Int, _ item: (inout RandomDocument) -> String) -> String {
        var items: [String] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) { items.append(item(&self) + space()) }
        return items.joined(separator: ",")
    }

    /// A document with a few bytes changed, taken away or put in: sometimes still JSON.
    mutating func mutated(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        let alphabet = Array("{}[]\",:\\ue0123456789.-+tfn \u{0}\u{1}\n".utf8) + [0x80, 0xc0, 0xed, 0xa0, 0xff, 0xf4]
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let byte = alphabet.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(byte, at: place)
            case 2: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
            default: bytes[place] = byte
            }
        }
        return bytes
    }
}
