import JSON
import TestSupport
import Testing

@Suite("JSONScanner")
struct JSONScannerTests {
    private let parser = JSONParser(maximumBytes: 16 << 20)

    /// Whether simdjson takes the bytes.
    private func parses(_ bytes: [UInt8]) -> Bool {
        if case .success = parser.withDocument(bytes.span, { _ in }) { true } else { false }
    }

    /// The misfits that the scanner finds, or nil when it says the bytes are no JSON.
    private func mend(_ bytes: [UInt8], limit: Int = 1000) -> (bytes: [UInt8], misfits: [JSONMisfit])? {
        var mended = bytes
        guard let misfits = try? JSONScanner.mend(&mended, limit: limit) else {
            #expect(mended == bytes, "what is no JSON stays as it was")
            return nil
        }
        return (mended, misfits)
    }

    /// The law of the scanner: it takes exactly what simdjson takes, and what simdjson refuses for a misfit alone.
    private func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let (mended, misfits) = mend(bytes) else {
            #expect(!parses(bytes), "simdjson takes what the scanner refuses: \(text)")
            return
        }
        #expect(parses(bytes) == misfits.isEmpty, "misfits \(misfits) in: \(text)")
        #expect(parses(mended), "mended: \(String(decoding: mended, as: UTF8.self))")
        #expect(mended.count == bytes.count)
        #expect(mended == bytes || !misfits.isEmpty)
    }

    @Test("random documents: it agrees with simdjson, misfits aside")
    func documents() {
        for seed in 0..<4000 as Range<UInt64> {
            var document = RandomDocument(random: Seeded(seed))
            let bytes = Array(document.value().utf8)
            #expect(mend(bytes) != nil, "well-formed by construction: \(String(decoding: bytes, as: UTF8.self))")
            check(bytes)
        }
    }

    @Test("mutated documents: it agrees with simdjson, misfits aside")
    func mutations() {
        for seed in 0..<12_000 as Range<UInt64> {
            var document = RandomDocument(random: Seeded(seed))
            let text = document.value()
            check(document.mutated(text))
        }
    }

    @Test("every prefix of a document is refused or, for a number, taken, as simdjson does")
    func prefixes() {
        let text = #" {"a\u00e9\ud83d\ude00": [1.5e-3, -0, true, false, null, "x\\\"", {}, []], "b": 12} "#
        for length in 0...text.utf8.count { check(Array(text.utf8.prefix(length))) }
    }

    @Test(
        "what is no JSON is refused with its place",
        arguments: [
            ("", 0), ("  ", 2), ("{", 1), (#"{"a" 1}"#, 5), ("[1,]", 3), ("[1 2]", 3), ("{1:2}", 1), (#"{"a":1,}"#, 7),
            ("01", 1), ("1.", 2), ("-", 1), (".5", 0), ("+1", 0), ("1e", 2), ("NaN", 0), ("tru", 0), ("nulll", 4),
            ("[1}", 2), (#"{"a":1]"#, 6), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("\"a\nb\"", 2), ("\"abc", 4), ("1 2", 2),
            ("'a'", 0), ("\u{feff}1", 0), ("// x\n1", 0),
        ])
    func faults(text: String, offset: Int) {
        let text = Array(text.utf8)
        var bytes = text
        let fault = #expect(throws: JSONFault.self) { try JSONScanner.mend(&bytes, limit: 10) }
        #expect(fault?.offset == offset)
        check(text)
    }

    @Test("bytes that are not UTF-8 are refused with their place, in a string or outside")
    func utf8() {
        for bad in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80]] as [[UInt8]] {
            var bytes = Array("[\"ab".utf8) + bad + Array("\"]".utf8)
            let fault = #expect(throws: JSONFault.self) { try JSONScanner.mend(&bytes, limit: 10) }
            #expect(fault?.offset == 4)
            check(bytes)
        }
    }

    @Test("misfits are told by kind and place, and mended to something of the same length")
    func misfits() throws {
        let text = #"{"a":1e400,"b\ud800":2,"c":["\udc00x",18446744073709551616],"d":[[1]],"e":"\ud83d\ude00"}"#
        let (mended, misfits) = try #require(mend(Array(text.utf8), limit: 2))
        #expect(misfits.map(\.kind) == [.number, .surrogate, .surrogate, .number, .nesting])
        #expect(misfits.map(\.offset) == [5, 11, 28, 38, 65])
        #expect(
            String(decoding: mended, as: UTF8.self)
                == #"{"a":0    ,"?"      :2,"c":["?"      ,0                   ],"d":[0  ],"e":"\ud83d\ude00"}"#)
    }

    @Test("what lies too deep goes as one misfit, whatever is in it")
    func deepMisfits() throws {
        let (mended, misfits) = try #require(mend(Array(#"[[{"a":1e400,"b":["\ud800"]}],1e400]"#.utf8), limit: 2))
        #expect(misfits.map(\.kind) == [.nesting, .number])
        #expect(parses(mended))
    }

    @Test("millions of brackets crash nothing", arguments: ["[", #"{"a":"#])
    func brackets(opening: String) throws {
        let count = 1_000_000
        let closing = opening == "[" ? "]" : "}"
        let open = Array(String(repeating: opening, count: count).utf8)
        #expect(mend(open) == nil)
        #expect(!parses(open))
        let value = open + Array("1".utf8) + Array(String(repeating: closing, count: count).utf8)
        let (mended, misfits) = try #require(mend(value, limit: 34))
        #expect(misfits.map(\.kind) == [.nesting])
        #expect(parses(mended))
        #expect(mend(Array(String(repeating: closing, count: count).utf8)) == nil)
    }

    @Test("a number of a million digits is judged in no time")
    func longNumbers() throws {
        for text in [
            String(repeating: "9", count: 1 << 20), "0." + String(repeating: "3", count: 1 << 20),
            "1e" + String(repeating: "9", count: 1 << 20), "1e-" + String(repeating: "9", count: 1 << 20),
        ] {
            let spent = processorTime { check(Array("[\(text)]".utf8)) }
            #expect(spent < 2)
        }
    }
}
