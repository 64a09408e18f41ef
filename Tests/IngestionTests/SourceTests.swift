import Ingestion
import Telemetry
import Testing

@Suite("Decoding: source")
struct SourceTests {
    private let other = "00000000-0000-0000-0000-00000000000a"

    @Test("all events of an envelope share one source")
    func shared() throws {
        let decoded = try decode(envelope([EventText().text, EventText("story.finished").text]))
        let sources = decoded.items.compactMap(\.event?.source)
        #expect(sources.count == 2 && sources[0] === sources[1])
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

    @Test("a wrong member of an event's own source is told by the event's path")
    func wrongOwnMembers() throws {
        for (member, value) in [("install_id", "\"x\""), ("platform", "1"), ("authorization", "{}")] {
            let event = EventText().with("source", "{\"\(member)\":\(value)}").text
            let rejection = try decodeAmongNeighbours(event).rejection
            #expect(rejection?.reason == .invalidField)
            #expect(rejection?.detail.hasPrefix("events[1].source.\(member): ") == true)
        }
    }

    @Test("a source that cannot be held rejects every event by the path source, and theirs come first")
    func misfits() throws {
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        for value in [
            "1e400", #""\ud800""#, #""\u0000""#, deep,
            String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000),
        ] {
            let source = "{\"install_id\":\"\(install)\",\"x\":\(value)}"
            let own = EventText().with("source", #"{"install_id":"\#(other)"}"#).text
            let decoded = try decode(envelope([EventText().text, own, "7", EventText("x").text], source: source))
            for index in [0, 1] {
                let rejection = decoded.items[index].rejection
                #expect(rejection?.reason == .invalidField)
                #expect(rejection?.detail.hasPrefix("source: ") == true)
            }
            #expect(decoded.items[2].rejection?.reason == .notAnObject)
            #expect(decoded.items[3].rejection?.reason == .unknownType)
            #expect(decoded.rawSource.map { String(decoding: $0, as: UTF8.self) } == source)
        }
        let most = "{\"install_id\":\"\(install)\",\"x\":\(deep.dropFirst().dropLast())}"
        #expect(try decode(envelope([EventText().text], source: most)).items[0].event != nil)
    }
}
