import JSON
import TestSupport
import Testing

@Suite("JSONSlicer: leaving members out")
struct JSONOmissionTests {
    private static let names: [StaticString] = ["text", "user_text", "reply", "input"]
    private let parser = JSONParser(maximumBytes: 16 << 20)

    /// What is left of a document; the very bytes where there is nothing to leave out.
    private func rest(of bytes: [UInt8], upTo limit: Int = .max - 1) -> [UInt8] {
        JSONSlicer.omitting(JSONOmissionTests.names, from: bytes.span, upTo: limit) ?? bytes
    }

    private func rest(of text: String) -> String {
        String(decoding: rest(of: Array(text.utf8)), as: UTF8.self)
    }

    /// A document as the parser and the writer see it, another way to leave members out; nil when it is no JSON.
    private func written(_ bytes: [UInt8], omitting isOmitted: (JSONText) -> Bool) -> [UInt8]? {
        var mended = bytes
        guard (try? JSONScanner.mend(&mended, limit: 1000)) != nil else { return nil }
        var writer = JSONWriter()
        _ = parser.withDocument(mended.span) { root in writer.write(root, omitting: isOmitted) }
        return writer.bytes
    }

    private func isNamed(_ key: JSONText) -> Bool { JSONOmissionTests.names.contains { key.spells($0) } }

    private func holdsName(_ bytes: [UInt8]) -> Bool {
        var mended = bytes
        _ = try? JSONScanner.mend(&mended, limit: 1000)
        func holds(_ value: JSONValue) -> Bool {
            value.members.contains { isNamed($0.key) || holds($0.value) } || value.elements.contains(where: holds)
        }
        return (try? parser.withDocument(mended.span, holds).get()) ?? true
    }

    /// The law: what is left is JSON, holds no such member, and is the rest of the document and nothing but that.
    private func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let rest = rest(of: bytes)
        #expect(written(rest, omitting: { _ in false }) == written(bytes, omitting: isNamed), "\(text)")
        #expect(!holdsName(rest), "\(text)")
        #expect(self.rest(of: rest) == rest, "\(text)")
        #expect((rest == bytes) == !holdsName(bytes), "\(text)")
        for limit in [0, 1, rest.count / 2, rest.count] {
            let cut = self.rest(of: bytes, upTo: limit)
            #expect(rest == bytes ? cut == bytes : cut == Array(rest.prefix(limit + 1)), "\(text)")
        }
    }

    @Test("of a document without such members nothing goes, not a byte")
    func clean() throws {
        for seed in 0..<3000 as Range<UInt64> {
            var document = RandomDocument(random: Seeded(seed))
            let bytes = Array(document.value().utf8)
            #expect(JSONSlicer.omitting(JSONOmissionTests.names, from: bytes.span, upTo: 0) == nil)
        }
    }

    @Test("of random and mutated documents goes what the parser says is such a member, and what is left is JSON")
    func documents() {
        var outcomes = (left: 0, cut: 0, mutated: 0)
        for seed in 0..<6000 as Range<UInt64> {
            var document = RandomDocument(
                random: Seeded(seed),
                keys: ["text", "\\u0074ext", "user\\u005Ftext", "reply", "input", "Text", "te\\/t"])
            let text = document.value()
            let bytes = Array(text.utf8)
            check(bytes)
            if holdsName(bytes) { outcomes.cut += 1 } else { outcomes.left += 1 }
            let mutated = document.mutated(text)
            var mended = mutated
            guard (try? JSONScanner.mend(&mended, limit: 1000)) != nil else {
                // No one asks for these, but whatever comes back, it comes back.
                _ = rest(of: mutated)
                continue
            }
            check(mutated)
            if holdsName(mutated) { outcomes.mutated += 1 }
        }
        #expect(outcomes.left > 300 && outcomes.cut > 300 && outcomes.mutated > 100, "\(outcomes)")
    }

    @Test(
        "a comma goes along, and no other byte",
        arguments: [
            (#"{"text":1}"#, "{}"), (#"{ "text" : 1 }"#, "{  }"), (#"{"text":1,"a":2}"#, #"{"a":2}"#),
            (#"{ "text":1 , "a" :2}"#, #"{ "a" :2}"#), (#"{"a":2,"text":1}"#, #"{"a":2}"#),
            (#"{"a":2 , "text":1 }"#, #"{"a":2  }"#), (#"{"a":2,"text":1,"b":3}"#, #"{"a":2,"b":3}"#),
            (#"{"text":1,"reply":2,"a":3,"input":4,"user_text":5,"b":6,"text":7,"text":8}"#, #"{"a":3,"b":6}"#),
            (#"{"text":1,"reply":2}"#, "{}"), (#"[1,{"text":1},"text",{"a":1,"input":[{"b":"}"}]}]"#, nil),
            (#"{"a":{"text":{"text":"\"}"}},"b":[[{"reply":[]}]]}"#, #"{"a":{},"b":[[{}]]}"#),
            (
                #"{"a":"text","b":["text","text"],"c":{"d":"input"}}"#,
                #"{"a":"text","b":["text","text"],"c":{"d":"input"}}"#
            ),
            (#"{"text":1e400,"a":1e400}"#, #"{"a":1e400}"#), (#"{"text":"\ud800","\ud800":1}"#, #"{"\ud800":1}"#),
            (#""text""#, #""text""#), ("5", "5"), ("1e400", "1e400"), ("[]", "[]"), ("null", "null"),
        ] as [(String, String?)])
    func commas(text: String, expected: String?) {
        #expect(rest(of: text) == expected ?? #"[1,{},"text",{"a":1}]"#)
    }

    @Test("a key is known however it is escaped, and none that only looks like one is taken for it")
    func escapes() {
        for key in [
            #"\u0074ext"#, #"te\u0078t"#, #"\u0074\u0065\u0078\u0074"#, #"user\u005ftext"#, #"user\u005Ftext"#,
            #"repl\u0079"#, #"\u0069nput"#,
        ] {
            #expect(rest(of: "{\"\(key)\":1}") == "{}", "\(key)")
        }
        for key in [
            "", "tex", "texts", "Text", "TEXT", #"\\u0074ext"#, #"te\\xt"#, #"text\u0000"#, #"\u0000text"#,
            #"\u0174ext"#,
            #"tex\t"#, #"\text"#, #"tex\""#, #"\u0074ex"#, "téxt", "text ", #"user\u002dtext"#, "user-text",
            #"tex\ud800"#,
        ] {
            let text = "{\"\(key)\":1,\"a\":\"\(key)\"}"
            #expect(rest(of: text) == text, "\(key)")
        }
    }

    @Test("any depth is deep enough, and millions of brackets or members cost no more than their size")
    func depth() {
        let count = 300_000
        func nested(_ value: String) -> String {
            String(repeating: #"{"a":["#, count: count) + value + String(repeating: "]}", count: count)
        }
        let spent = processorTime {
            #expect(rest(of: nested(#"{"text":"x","b":1}"#)) == nested(#"{"b":1}"#))
            #expect(rest(of: "{\"text\":\(nested("1"))}") == "{}")
            let members = Array(repeating: #""text":{"text":1}"#, count: count).joined(separator: " , ")
            #expect(rest(of: "{\(members)}") == "{}")
            #expect(rest(of: "{\(members),\"a\":1}") == #"{"a":1}"#)
            let mixed = Array(repeating: #""a":1,"text":2"#, count: count).joined(separator: ",")
            #expect(rest(of: Array("{\(mixed)}".utf8), upTo: 100).count == 101)
        }
        #expect(spent < 20)
    }
}
