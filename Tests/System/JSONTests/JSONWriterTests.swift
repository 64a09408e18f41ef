import JSON
import Testing

@Suite("JSONWriter and JSONSlicer")
struct JSONWriterTests {
    private let parser = JSONParser(maximumBytes: 1 << 20)

    private func rewritten(_ bytes: [UInt8], omitting word: StaticString = "text") throws -> String {
        try parser.withDocument(bytes.span) { root in
            var writer = JSONWriter()
            writer.write(root) { key in key.spells(word) }
            return String(decoding: writer.bytes, as: UTF8.self)
        }.get()
    }

    @Test("writes the shortest form, escapes what must be, and keeps all else")
    func shortest() throws {
        let text =
            #" { "a" : [ 1 , -2.50 , 1e3, true , null ] , "b\/\"\\\n\u0001é" : { } , "c" : 18446744073709551615 } "#
        #expect(
            try rewritten(Array(text.utf8))
                == #"{"a":[1,-2.5,1000.0,true,null],"b/\"\\\u000a\u0001é":{},"c":18446744073709551615}"#)
    }

    @Test("leaves out the named members at any depth, and of a repeated key all but the last")
    func omission() throws {
        let text = #"{"text":1,"a":[{"text":"x","b":1,"b":2}],"a":[[{"c":{"text":[]}}],"text"]}"#
        #expect(try rewritten(Array(text.utf8)) == #"{"a":[[{"c":{}}],"text"]}"#)
        let many = (0..<5000).map { #""k\#($0 % 700)":\#($0)"# }.joined(separator: ",")
        let kept = (4300..<5000).map { #""k\#($0 % 700)":\#($0)"# }.joined(separator: ",")
        #expect(try rewritten(Array("{\(many)}".utf8)) == "{\(kept)}")
    }

    @Test("what was written reads back as the same, for random documents")
    func roundTrip() throws {
        for seed in 0..<2000 as Range<UInt64> {
            var document = RandomDocument(random: Seeded(seed), misfits: false)
            let once = try rewritten(Array(document.value().utf8))
            #expect(try rewritten(Array(once.utf8)) == once)
        }
    }

    @Test("slices of members and elements hold just what the parser sees there, for random documents")
    func slices() throws {
        for seed in 0..<2000 as Range<UInt64> {
            var document = RandomDocument(random: Seeded(seed), misfits: false)
            let bytes = Array((" " + document.value() + " ").utf8)
            let start = JSONSlicer.root(in: bytes.span)
            let expected = try parser.withDocument(bytes.span) { root in
                (root.isArray ? Array(root.elements) : root.members.map(\.value)).map { value in
                    var writer = JSONWriter()
                    writer.write(value) { _ in false }
                    return String(decoding: writer.bytes, as: UTF8.self)
                }
            }.get()
            let ranges =
                bytes[start] == UInt8(ascii: "[")
                ? JSONSlicer.elements(ofArrayAt: start, in: bytes.span)
                : expected.indices.compactMap { JSONSlicer.value(ofMember: $0, ofObjectAt: start, in: bytes.span) }
            #expect(try ranges.map { try rewritten(Array(bytes[$0]), omitting: "\u{1}") } == expected)
        }
    }

    @Test("there is no slice of a member that is not there")
    func absent() {
        let bytes = Array(#"{"a":1,"b":[2]}"#.utf8)
        #expect(JSONSlicer.value(ofMember: 1, ofObjectAt: 0, in: bytes.span) == 11..<14)
        #expect(JSONSlicer.value(ofMember: 2, ofObjectAt: 0, in: bytes.span) == nil)
        #expect(JSONSlicer.value(ofMember: 0, ofObjectAt: 0, in: Array("{}".utf8).span) == nil)
        #expect(JSONSlicer.elements(ofArrayAt: 0, in: Array(" [ ] ".utf8).span.extracting(1..<4)) == [])
    }
}
