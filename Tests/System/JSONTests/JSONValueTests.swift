import JSON
import Testing

@Suite("JSONParser and JSONValue")
struct JSONValueTests {
    private let parser = JSONParser(maximumBytes: 1 << 20)

    private func read<Result>(_ text: String, _ body: (JSONValue) -> Result) throws -> Result {
        try parser.withDocument(Array(text.utf8).span, body).get()
    }

    @Test("each kind of value is told apart and read")
    func kinds() throws {
        let kinds = try read(#"[{},[],"",0,1.5,true,null]"#) { root in root.elements.map(\.kind) }
        #expect(kinds == [.object, .array, .string, .number, .number, .boolean, .null])
        let numbers = try read("[-1, 9223372036854775807, 9223372036854775808, 17.0, 1e3]") { root in
            root.elements.compactMap(\.number)
        }
        #expect(
            numbers == [
                .signed(-1), .signed(.max), .unsigned(9_223_372_036_854_775_808), .double(17), .double(1000),
            ])
        #expect(try read("[true,false,null,1]") { root in root.elements.map(\.boolean) } == [true, false, nil, nil])
    }

    @Test("members come in order, unescaped, repeated keys included")
    func members() throws {
        let members = try read(#"{"a":1,"\u0061":{"x":[]},"é\ud83d\ude00":"\n"}"#) { root in
            root.members.map { member in member.key.string }
        }
        #expect(members == ["a", "a", "é😀"])
        #expect(try read(#"{"a":[1,2,3],"b":{}}"#) { root in root.count } == 2)
    }

    @Test("a value that has no members or elements gives none")
    func scalars() throws {
        #expect(try read("[1]") { root in root.members.map(\.key.string) } == [])
        #expect(try read("{}") { root in root.elements.map(\.kind) } == [])
        #expect(try read("7") { root in root.elements.map(\.kind) + root.members.map(\.value.kind) } == [])
        #expect(try read("7") { root in (root.text == nil, root.count) } == (true, 0))
    }

    @Test("a position leads back to its value")
    func positions() throws {
        let text = try read(#"{"a":[1,{"b":"deep"}],"c":2}"#) { root in
            let position = root.members.first { _ in true }?.value.elements.map(\.position).last
            return position.flatMap { root.value(at: $0).members.first { _ in true }?.value.text?.string }
        }
        #expect(text == "deep")
    }

    @Test("nesting is counted exactly, with anything beside it", arguments: [1, 2, 31, 32, 33, 500])
    func nesting(depth: Int) throws {
        let deep = String(repeating: #"{"k":[1,1.5,"["],"v":"#, count: depth - 1) + "{}"
        let text = deep + String(repeating: "}", count: depth - 1)
        // The array beside each nested object reaches as deep as the object does.
        #expect(try read(text) { root in root.nestsDeeper(than: depth) } == false)
        if depth > 1 { #expect(try read(text) { root in root.nestsDeeper(than: depth - 1) }) }
    }

    @Test("NUL is found in strings and keys at any depth, and an escaped backslash before u0000 is not one")
    func nul() throws {
        for (text, mayHold, holds) in [
            (#"{"a":["x\u0000"]}"#, true, true), (#"{"a\u0000":1}"#, true, true), (#"{"a":"\\u0000"}"#, true, false),
            (#"{"a":"\\\u0000"}"#, true, true), (#"{"a":"\u0001","b":"\n"}"#, false, false), (#""\u0000"#, true, false),
            (#""\u000"#, false, false), ("", false, false),
        ] {
            #expect(JSONText.mayHoldNUL(in: Array(text.utf8).span) == mayHold, "\(text)")
            if let found = try? read(text, { root in root.holdsNUL }) { #expect(found == holds, "\(text)") }
        }
    }

    @Test("texts are equal by their bytes, not by Unicode's equivalences")
    func equality() throws {
        let keys = try read(#"{"é":1,"e\u0301":2,"\u00e9":3}"#) { root in
            let keys = root.members.map(\.key)
            return (keys[0] == keys[1], keys[0] == keys[2], keys[0].spells("é"), keys[0].spells("e"))
        }
        #expect(keys == (false, true, true, false))
    }

    @Test("a document over the parser's size is too large, not refused")
    func tooLarge() {
        let bytes = Array("[\(String(repeating: " ", count: 1 << 20))]".utf8)
        let result = parser.withDocument(bytes.span) { _ in }
        #expect(throws: JSONRefusal.tooLarge) { try result.get() }
    }

    @Test("the parser reads on after a refusal, a large document and a release")
    func reuse() throws {
        let large = "[" + String(repeating: "1,", count: 400_000) + "1]"
        #expect(throws: JSONRefusal.refused) { try read("[", { _ in }) }
        #expect(try read(large) { root in root.count } == 400_001)
        parser.release()
        #expect(try read("[1,2]") { root in root.count } == 2)
        #expect(try read(large) { root in root.count } == 400_001)
    }
}
