import Foundation
import ServiceRuntime
import Testing

@Suite("The log")
struct LogTests {
    private static let hostile = [
        "plain", "", "quote\" back\\slash /", "line\nbreak\r\ntab\t", "\0\u{1}\u{1f}\u{7f}\u{9b}",
        "\u{1b}[31mred\u{1b}[0m",
        "\u{202e}olleh\u{2066}x\u{2069}", "\u{2028}\u{2029}", "สวัสดี 👩‍👩‍👧‍👦", "\u{200b}\u{feff}", "\u{10ffff}", "e\u{301}",
        "\r\n",
        "\"\u{301}\\\u{301}",
    ]

    private func lines(_ style: Log.Style, least: Log.Level = .info, _ body: (Log) -> Void) -> [String] {
        let lines = Lock([String]())
        body(Log(least: least, style: style) { line in lines.withLock { $0.append(line) } })
        return lines.withLock { $0 }
    }

    @Test("a JSON line is one line and valid JSON, and says what it was told", arguments: hostile)
    func json(text: String) throws {
        let all = lines(.json) { $0.warning(text, ["first": text, text + "!": "x"]) }
        #expect(all.count == 1)
        let line = try #require(all.first)
        #expect(line.hasSuffix("}\n"))
        #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        for scalar in line.dropLast().unicodeScalars {
            #expect(
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory))
        }
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        func bytes(_ name: String) -> [UInt8]? { object[name].map { Array($0.utf8) } }
        #expect(bytes("message") == Array(text.utf8))
        #expect(bytes("first") == Array(text.utf8))
        #expect(bytes("level") == Array("warning".utf8))
        #expect(object[text + "!"] == "x")
        #expect(object["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil)
        #expect(object.count == 5)
    }

    @Test("a line for people shows what a terminal must not obey", arguments: hostile)
    func terminal(text: String) throws {
        let all = lines(.lines) { $0.error(text, ["name": text]) }
        let line = try #require(all.first)
        #expect(all.count == 1 && line.hasSuffix("\n"))
        for scalar in line.dropLast().unicodeScalars {
            let category = scalar.properties.generalCategory
            #expect(
                category != .control && category != .format && category != .lineSeparator
                    && category != .paragraphSeparator)
        }
    }

    @Test("a line for people has the time, the level, the message and the fields in their order")
    func people() throws {
        let line = try #require(lines(.lines) { $0.info("started", ["port": "8080", "node": "a\u{1b}b"]) }.first)
        #expect(
            line.wholeMatch(of: /\d\d:\d\d:\d\d\.\d{6}Z info: started port=8080 node=a\\u\{1B\}b\n/) != nil, "\(line)")
    }

    @Test("what is below the least level is not written")
    func levels() {
        for (place, least) in Log.Level.allCases.enumerated() {
            let written = lines(.json, least: least) { log in
                log.debug("m")
                log.info("m")
                log.warning("m")
                log.error("m")
            }
            #expect(written.count == 4 - place)
            for (line, level) in zip(written, Log.Level.allCases[place...]) {
                #expect(line.contains("\"level\":\"\(level.rawValue)\""))
            }
        }
        #expect(
            Log.Level.allCases == [.debug, .info, .warning, .error] && Log.Level.allCases == Log.Level.allCases.sorted()
        )
        Log.silent.error("heard by nobody")
    }

    @Test("a JSON string literal reads back byte for byte", arguments: hostile)
    func literal(text: String) throws {
        let read = try JSONSerialization.jsonObject(with: Data(String(json: text).utf8), options: .fragmentsAllowed)
        #expect((read as? String).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test("a printable text is the text itself where it is harmless")
    func printable() {
        #expect(String(printable: "Zürich สวัสดี 'x'") == "Zürich สวัสดี 'x'")
        #expect(String(printable: "a\nb\u{202e}") == "a\\nb\\u{202E}")
    }
}
