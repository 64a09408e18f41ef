import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import TestSupport
import Testing

@Suite("Decoding: extra")
struct ExtraTests {
    private func extra(_ event: String, source: String = "{\"install_id\":\"\(install)\"}") throws -> String? {
        let decoded = try decode(envelope([event], source: source))
        return try #require(decoded.items[0].event, "\(decoded.items[0])").extraText
    }

    @Test("unknown members are kept as JSON, in the place where they stood")
    func unknownMembers() throws {
        let event = EventText().with("screen", #"{ "name" : "home", "n" : [1, 2.5, null, true] }"#)
            .with("notification", #"{"id":"a","badge":3,"é\n":"\u00fc\"\\\/"}"#)
            .with("media", #"{"kind":"image","cdn":"eu"}"#).with("source", #"{"carrier":"x"}"#)
        #expect(
            try extra(event.text)
                == #"{"screen":{"name":"home","n":[1,2.5,null,true]},"notification":{"badge":3,"é\u000a":"ü\"\\/"},"#
                + #""media":{"cdn":"eu"},"source":{"carrier":"x"}}"#)
    }

    @Test("unknown words of several members stand there raw, beside those that are known")
    func unknownWords() throws {
        let event = EventText("action.tapped").with("activation", "\"a\"").with("handled_in", "\"app\"")
            .with("launch", "\"c\"").with("notification", #"{"id":"a","origin":"space","sent_at":"soon","alert":true}"#)
        let decoded = try #require(try decodeAmongNeighbours(event.text).event)
        #expect(decoded.interaction == .actionTapped(ActionTap(actionID: "x", handledIn: .app)))
        #expect(
            decoded.extraText
                == #"{"activation":"a","launch":"c","notification":{"origin":"space","sent_at":"soon"}}"#)
    }

    @Test("an unknown word may be of any length: it never rejects")
    func longWord() throws {
        let word = String(repeating: "x", count: 1000)
        #expect(try extra(EventText().with("via", "\"\(word)\"").text) == "{\"via\":\"\(word)\"}")
        let longer = String(repeating: "x", count: 5000)
        #expect(try extra(EventText().with("via", "\"\(longer)\"").text) == #"{"_dropped":5010}"#)
    }

    @Test("what a person typed is dropped at every depth, and nothing but that")
    func freeText() throws {
        let event = EventText("action.tapped").with("text", "\"secret\"").with("user_text", "[1]").with("reply", "{}")
            .with("input", "1").with("Text", "1").with("texts", "2").with("text_input", "true")
            .with("form", #"{"text":"secret","rows":[{"input":"secret","n":1},[{"reply":"x"}]],"note":"text"}"#)
            .with("notification", #"{"id":"a","text":"secret","title":{"user_text":"secret"}}"#)
            .with("source", #"{"reply":"secret"}"#)
        #expect(
            try extra(event.text, source: #"{"install_id":"\#(install)","input":"secret","x":{"text":"secret"}}"#)
                == #"{"Text":1,"texts":2,"form":{"rows":[{"n":1},[{}]],"note":"text"},"notification":{"title":{}},"#
                + #""source":{"x":{}}}"#)
    }

    @Test("over 4 KiB only its size is kept")
    func tooLarge() throws {
        func event(extraBytes: Int) -> String {
            EventText().with("k", "\"\(String(repeating: "x", count: extraBytes - 8))\"").text
        }
        #expect(try extra(event(extraBytes: 4096))?.utf8.count == 4096)
        #expect(try extra(event(extraBytes: 4097)) == #"{"_dropped":4097}"#)
        let large = #"{"install_id":"\#(install)","k":"\#(String(repeating: "x", count: 5000))"}"#
        #expect(try extra(EventText().text, source: large)?.hasPrefix(#"{"_dropped":50"#) == true)
        #expect(
            try extra(EventText().with("source", #"{"x":1}"#).text, source: large)?.hasPrefix(#"{"_dropped":50"#)
                == true)
    }

    @Test("the envelope's source gives its unknown members to every event, which may override them")
    func sourceMembers() throws {
        let source = #"{"install_id":"\#(install)","a":1,"b":{"c":2},"authorization":"maybe"}"#
        #expect(
            try extra(EventText().text, source: source) == #"{"source":{"a":1,"b":{"c":2},"authorization":"maybe"}}"#)
        #expect(
            try extra(EventText().with("source", #"{"b":[],"d":4,"a":null}"#).text, source: source)
                == #"{"source":{"a":1,"authorization":"maybe","b":[],"d":4}}"#)
        #expect(
            try extra(EventText().with("source", #"{"authorization":"denied"}"#).text, source: source)
                == #"{"source":{"a":1,"b":{"c":2}}}"#)
    }

    @Test("thousands of unknown members cost no more than their size")
    func manyMembers() throws {
        let members = (0..<2000).map { "\"k\($0 % 1000)\":\($0)" }.joined(separator: ",")
        let source = "{\"install_id\":\"\(install)\",\(members)}"
        let events = Array(repeating: EventText().with("source", "{\(members)}").text, count: 50)
        let spent = try processorTime {
            let decoded = try decode(envelope(events, source: source))
            #expect(decoded.items.allSatisfy { $0.event?.extraText?.hasPrefix(#"{"_dropped":"#) == true })
        }
        #expect(spent < 10)
    }
}
