import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Decoding: source")
struct SourceTests {
    private let other = "00000000-0000-0000-0000-00000000000a"

    @Test("all events of an envelope share one source")
    func shared() throws {
        let decoded = try decode(envelope([EventText().text, EventText("story.finished").text]))
        #expect(decoded.events.map(\.source) == [0, 0] && decoded.sources.count == 1)
    }

    @Test("an event's own source overrides the envelope's member by member; null and empty do not")
    func override() throws {
        let source = #"{"install_id":"\#(install)","platform":"ios","app_version":"1","locale":"th-TH","fid":"f"}"#
        let event = EventText().with(
            "source", #"{"install_id":"\#(other)","app_version":"2","locale":null,"fid":"","authorization":"denied"}"#)
        let read = try #require(try decodeAmongNeighbours(event.text, source: source).event?.source)
        #expect(read.installID.description == other)
        #expect([read.platform, read.appVersion, read.locale, read.fid] == ["ios", "2", "th-TH", "f"])
        #expect(read.authorization == .denied)
    }

    @Test("an event left without an install id is rejected alone")
    func withoutInstallID() throws {
        let own = EventText().with("source", #"{"install_id":"\#(install)"}"#).text
        for source in [nil, "null", "{}", "\"\"", #"{"install_id":null}"#, #"{"install_id":""}"#] as [String?] {
            let decoded = try decode(envelope([own, EventText().text, own], source: source))
            #expect(decoded.items[0].event?.source.installID.description == install)
            #expect(decoded.items[1].rejection?.reason == .missingField)
            #expect(decoded.items[1].rejection?.detail.contains("install_id") == true)
            #expect(decoded.items[2].event != nil)
        }
        let wrong = EventText().with("source", "7").text
        #expect(try decode(envelope([wrong], source: nil)).items[0].rejection?.reason == .missingField)
    }

    @Test("a wrong member of the envelope's source rejects every event that relies on it, by its path")
    func wrongMembers() throws {
        for (member, value, better) in [
            ("install_id", "7", "\"\(install)\""), ("install_id", "\"x\"", "\"\(install)\""),
            ("platform", "true", "\"ios\""),
            ("app_version", "\"\(String(repeating: "x", count: 513))\"", "\"1\""),
            ("fid", "\"\(String(repeating: "x", count: 257))\"", "\"f\""), ("authorization", "1", "\"denied\""),
        ] {
            let id = member == "install_id" ? "" : "\"install_id\":\"\(install)\","
            let relies = EventText().with("source", #"{"locale":"en"}"#).text
            let overrides = EventText().with("source", "{\"\(member)\":\(better)}").text
            let decoded = try decode(
                envelope([EventText().text, overrides, relies], source: "{\(id)\"\(member)\":\(value)}"))
            for index in [0, 2] {
                let rejection = decoded.items[index].rejection
                #expect(rejection?.reason == .invalidField)
                #expect(rejection?.detail.hasPrefix("source.\(member): ") == true, "\(rejection?.detail ?? "")")
            }
            #expect(decoded.items[1].event != nil, "\(member)")
        }
    }

    @Test("a source that cannot be held rejects every event by the path source, and theirs come first")
    func misfits() throws {
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        for value in [
            "1e400", #""\ud800""#, #""\u0000""#, deep,
            String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000),
        ] {
            let source = "{\"install_id\":\"\(install)\",\"x\":\(value)}"
            let own = EventText().with("source", #"{"install_id":"\#(other)"}"#).text
            let decoded = try decode(envelope([EventText().text, own, "7", EventText("x").text], source: source))
            for index in [0, 1] {
                let rejection = decoded.items[index].rejection
                #expect(rejection?.reason == .invalidField)
                #expect(rejection?.detail.hasPrefix("source.x") == true)
            }
            #expect(decoded.items[2].rejection?.reason == .notAnObject)
            #expect(decoded.items[3].rejection?.reason == .unknownType)
            #expect(decoded.rawSource == source)
        }
        let most = "{\"install_id\":\"\(install)\",\"x\":\(deep.dropFirst().dropLast())}"
        #expect(try decode(envelope([EventText().text], source: most)).items[0].event != nil)
    }

    /// A source of so many bytes.
    private func source(bytes: Int, more: String = "") -> String {
        let start = "{\"install_id\":\"\(install)\",\(more)\"x\":\""
        return start + String(repeating: "x", count: bytes - start.utf8.count - 2) + "\"}"
    }

    @Test("a source of 32 KiB is taken, one byte more is too large for every event, in the order of the reasons")
    func tooLarge() throws {
        let taken = try decode(envelope([EventText().text], source: source(bytes: 32 * 1024)))
        #expect(taken.items[0].event?.extraText?.hasPrefix(#"{"_dropped":"#) == true)

        let own = EventText().with("source", #"{"install_id":"\#(other)"}"#).text
        let large = EventText().with("filler", "\"\(String(repeating: "x", count: 33_000))\"").text
        let refused = try decode(
            envelope([EventText().text, own, "7", "{}", large], source: source(bytes: 32 * 1024 + 1)))
        #expect(
            refused.items.map(\.rejection?.reason) == [.tooLarge, .tooLarge, .notAnObject, .tooLarge, .tooLarge])
        for index in [0, 1, 3] { #expect(refused.items[index].rejection?.detail.hasPrefix("source: ") == true) }
        #expect(refused.items[4].rejection?.detail.hasPrefix("events[4]: ") == true)
        #expect(refused.items[0].rejectedID != nil)
        #expect(refused.installID?.description == install)

        // Too large comes before what cannot be held, and is found wherever the source stands.
        let misfit = source(bytes: 40_000, more: "\"y\":1e400,")
        #expect(try decode(envelope(["{}"], source: misfit)).items[0].rejection?.reason == .tooLarge)
        let last = try decode(#"{"events":[{}],"source":\#(source(bytes: 40_000))}"#)
        #expect(last.items[0].rejection?.reason == .tooLarge)
    }

    @Test("a source of 8 KiB is kept for the refused, one with more is not, and free text does not count")
    func kept() throws {
        func kept(_ source: String) throws -> String? {
            try decode(envelope(["7"], source: source)).rawSource
        }
        #expect(try kept(source(bytes: 8 * 1024)) == source(bytes: 8 * 1024))
        #expect(try kept(source(bytes: 8 * 1024 + 1)) == nil)
        #expect(try kept(source(bytes: 5 << 20)) == nil)
        let typed = String(repeating: "secret ", count: 2000)
        #expect(
            try kept(#"{"install_id":"x","te\u0078t":"\#(typed)", "a":[{"reply":"\#(typed)"}],"input":1}"#)
                == #"{"install_id":"x", "a":[{}]}"#)
    }

    @Test("half a million members of a source cost next to nothing")
    func manyMembers() throws {
        let members = (0..<500_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        let body = Array(envelope([EventText().text, "7"], source: "{\"install_id\":\"\(install)\",\(members)}").utf8)
        let decoder = EnvelopeDecoder()
        let spent = try processorTime {
            let decoded = try decoder.decode(body: body, receivedAt: received)
            #expect(decoded.items[0].rejection?.reason == .tooLarge)
            #expect(decoded.rawSource == nil)
        }
        #expect(spent < 2)
    }
}
