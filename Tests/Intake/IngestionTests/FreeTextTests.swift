import CatalogueSupport
import Envelopes
import Ingestion
import JSON
import Telemetry
import Testing
import Values

@Suite("Decoding: free text of refused events")
struct FreeTextTests {
    /// What is kept of one event, which has a rejected one before it and after it.
    private func kept(_ event: String) throws -> (text: String, rejection: Rejection?) {
        let decoded = try decode(envelope([#"{"input":1}"#, event, #"["x",{"a":1,"reply":2}]"#]))
        #expect(decoded.rawEvent(0) == "{}")
        #expect(decoded.rawEvent(2) == #"["x",{"a":1}]"#)
        return (decoded.rawEvent(1), decoded.items[1].rejection)
    }

    @Test("nothing of it is kept, at any depth and however the key is escaped, and the rest is as it came")
    func anyDepth() throws {
        let (text, rejection) = try kept(
            #"{ "type":"no.such",  "te\u0078t":"secret", "form":[{"rows":[{"input":{"v":"secret"}, "n":1.50}],"#
                + #""note":"text"},"reply"], "notification":{"user_text":["secret"],"id":"\u0061"},"reply":"secret"}"#)
        #expect(rejection?.reason == .missingField)
        #expect(
            text == #"{ "type":"no.such", "form":[{"rows":[{"n":1.50}],"note":"text"},"reply"], "#
                + #""notification":{"id":"\u0061"}}"#)
    }

    @Test("an event that is refused only when it is stored is kept without it too")
    func valid() throws {
        let event = EventText("action.tapped").with("text", "\"secret\"")
        let (text, rejection) = try kept(event.text)
        #expect(rejection == nil)
        #expect(text == event.with("text", nil).text)
    }

    @Test(
        "so it is where the event cannot be held",
        arguments: ["1e400", "18446744073709551616", #""\ud800""#, #"{"\udc00":[]}"#, #""\u0000""#, deep])
    func misfits(value: String) throws {
        let event = EventText().with("x", value)
        for free in [value, #""secret""#] {
            let (text, rejection) = try kept(event.with("form", #"{"text":\#(free),"a":\#(value)}"#).text)
            #expect(rejection?.reason == .invalidField)
            #expect(text == event.with("form", #"{"a":\#(value)}"#).text)
        }
    }

    private static let deep =
        String(repeating: #"{"a":[1,"#, count: 500) + "1" + String(repeating: "]}", count: 500)

    @Test("it is found beneath any number of levels")
    func beneath() throws {
        func event(_ value: String) -> String {
            String(repeating: "[", count: 5000) + value + String(repeating: "]", count: 5000)
        }
        #expect(try kept(event(#"{"text":"secret"}"#)).text == event("{}"))
    }

    @Test("what is no object is kept as it came, whatever it says")
    func noObjects() throws {
        for event in [#""text""#, "5", "1e400", #"["text",["reply"]]"#, "null", #""{\"text\":1}""#] {
            let (text, rejection) = try kept(event)
            #expect(rejection?.reason == .notAnObject)
            #expect(text == event)
        }
    }

    @Test("it goes before the event is cut to its bound")
    func tooLarge() throws {
        let secret = "\"\(String(repeating: "secret ", count: 10_000))\""
        let event = EventText().with("a", "{}")
        let (text, rejection) = try kept(event.with("a", "{\"text\":\(secret)}").text)
        #expect(rejection?.reason == .tooLarge)
        #expect(text == event.text)

        // Some stays far beyond the bound, with free text here and there.
        let pages = (0..<3000).map { "{\"n\":\"é\($0)\",\"input\":\"secret\"}" }.joined(separator: ",")
        let cut = try kept("[\(pages)]")
        let whole = "[" + (0..<3000).map { "{\"n\":\"é\($0)\"}" }.joined(separator: ",") + "]"
        #expect(cut.rejection?.reason == .notAnObject)
        #expect(whole.hasPrefix(cut.text))
        #expect((Bounds.rawEvent - 1...Bounds.rawEvent).contains(cut.text.utf8.count))
    }

    @Test("whatever arrives, what is kept of it is JSON without such a member")
    func mutations() throws {
        var random = SystemRandomNumberGenerator()
        let decoder = EnvelopeDecoder()
        let parser = JSONParser(maximumBytes: 1 << 20)
        let seed = Array(
            envelope(
                [
                    #"{"text":"a","b":[{"user_text":{"x":1},"c":"}"},{"d":1e400,"reply":[]}],"input":"\ud800"}"#,
                    EventText().with("te\\u0078t", "1").with("y", "[[{\"input\":0}]]").text, "[{\"reply\":1}]",
                ], source: #"{"install_id":"x","text":{"a":1},"z":[{"input":1,"b":2}]}"#
            ).utf8)
        let alphabet = Array("{}[]\",:\\0 tu".utf8)
        var looks = 0
        func holdsFreeText(_ value: JSONValue) -> Bool {
            value.members.contains { freeTextKeys.contains($0.key.string) || holdsFreeText($0.value) }
                || value.elements.contains(where: holdsFreeText)
        }
        for _ in 0..<6000 {
            var body = seed
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body.remove(at: place)
                case 1: body.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                default: body.swapAt(place, Int.random(in: 0..<body.count, using: &random))
                }
            }
            guard let decoded = try? decoder.decode(body: body, receivedAt: received) else { continue }
            for raw in decoded.items.indices.map({ Array(decoded.rawEvent($0).utf8) })
                + [Array((decoded.rawSource ?? "0").utf8)]
            {
                looks += 1
                var mended = raw
                _ = try JSONScanner.mend(&mended, limit: 1000)
                let holds = try parser.withDocument(mended.span, holdsFreeText).get()
                #expect(!holds, "\(String(decoding: raw, as: UTF8.self))")
            }
        }
        #expect(looks > 3000)
    }
}
