import CatalogueSupport
import Envelopes
import Foundation
import Telemetry
import Testing
import Values

@Suite("A batch of CloudEvents")
struct CloudEventsTests {
    static let id = "00000000-0000-0000-0000-00000000000a"
    private static let notification = #""notification":{"id":"req-1"}"#

    private func decode(_ events: String...) throws(EnvelopeError) -> DecodedEnvelope {
        try EnvelopeDecoder().decode(
            cloudEvents: Array("[\(events.joined(separator: ","))]".utf8), receivedAt: received)
    }

    private func cloudEvent(
        id: String = "\"\(id)\"", type: String = "\"story.finished\"", time: String = "\"2026-11-20T09:30:10Z\"",
        place: String = #""source":"/relay","subject":"\#(install)""#, data: String = "{\(notification)}",
        more: String = ""
    ) -> String {
        #"{"specversion":"1.0","id":\#(id),"type":\#(type),"time":\#(time),\#(place),"data":\#(data)\#(more)}"#
    }

    @Test("it reads as the envelope that says the same")
    func same() throws {
        let data = #"{"notification":{"id":"req-1","category":"é"},"launch":"cold","carrier":{"a":[1.50,"x"]}}"#
        let read = try decode(cloudEvent(type: "\"notification.opened\"", data: data))
        let same =
            #"{"id":"\#(Self.id)","type":"notification.opened","at":"2026-11-20T09:30:10Z","source":{"install_id":"\#(install)"},"#
            + data.dropFirst()
        let told = try EnvelopeDecoder().decode(body: Array(#"{"events":[\#(same)]}"#.utf8), receivedAt: received)
        let event = try #require(read.items.first?.event)
        let other = try #require(told.items.first?.event)
        #expect(event.id == other.id && event.deviceAt == other.deviceAt && event.extraText == other.extraText)
        #expect("\(event.interaction) \(event.notification)" == "\(other.interaction) \(other.notification)")
        #expect(read.install(of: 0).description == install && read.sentAt == nil)
    }

    @Test(
        "an id that is no UUID becomes the one that every library derives from source and id",
        arguments: [
            ("https://relay.example/push", "msg-0001", "6b9eba88-b1d6-56e9-b5bc-274ff13d09a7"),
            ("/relay", CloudEventsTests.id, CloudEventsTests.id),
            ("/relay", CloudEventsTests.id.uppercased(), CloudEventsTests.id),
        ])
    func derived(_ source: String, _ id: String, _ expected: String) throws {
        let place = #""source":"\#(source)","subject":"\#(install)""#
        let decoded = try decode(cloudEvent(id: "\"\(id)\"", place: place), cloudEvent(id: "\"\(id)\"", place: place))
        for item in decoded.items { #expect(item.event?.id.description == expected) }
    }

    @Test(
        "the install is the UUID at the end of subject, else of source; the event's own wins",
        arguments: [
            (#""subject":"\#(install)""#, true), (#""subject":"urn:uuid:\#(install)""#, true),
            (#""source":"/apps/shop/installs/\#(install)""#, true), (#""source":"\#(install)","subject":"n-17""#, true),
            (#""source":"\#(CloudEventsTests.id)","subject":"\#(install)""#, true),
            (#""source":"x\#(install)""#, false),
            (#""source":"\#(install)/""#, false), (#""subject":17"#, false), (#""source":"""#, false),
        ])
    func installs(_ place: String, isFound: Bool) throws {
        for source in ["", #""source":{},"#, #""source":null,"#, #""source":{"platform":"ios","install_id":""},"#] {
            let item = try #require(
                try decode(cloudEvent(place: place, data: "{\(source)\(Self.notification)}")).items.first)
            #expect(item.event?.source.installID.description == (isFound ? install : nil), "\(source)")
            if !isFound { #expect(item.rejection?.reason == .missingField) }
            if isFound, source.contains("ios") { #expect(item.event?.source.platform == "ios") }
        }
        let own = #"{"source":{"install_id":"\#(Self.id)"},\#(Self.notification)}"#
        #expect(try decode(cloudEvent(place: place, data: own)).install(of: 0).description == Self.id)
    }

    @Test("what data says itself counts, and only what says nothing is filled in")
    func data() throws {
        let other = "00000000-0000-0000-0000-00000000000b"
        let whole =
            #"{"id":"\#(other)","type":"action.tapped","at":1795167010001,"action_id":"A",\#(Self.notification)}"#
        let event = try #require(try decode(cloudEvent(data: whole)).items.first?.event)
        #expect(event.id.description == other && event.type == .actionTapped)
        let void = #"{"id":null,"type":"","at":null,\#(Self.notification)}"#
        let filled = try #require(try decode(cloudEvent(data: void)).items.first?.event)
        #expect(filled.id.description == Self.id && filled.type == .storyFinished)
    }

    @Test("extension attributes are kept, attributes of the standard are not; a repeated one counts as its last")
    func extensions() throws {
        let more = #","traceparent":"00-1","datacontenttype":"application/json","dataschema":"x","text":"typed","n":1"#
        let event = try #require(
            try decode(cloudEvent(more: more + #","type":"story.started","type":"story.finished""#)).items.first?.event)
        #expect(event.extraText == #"{"cloudevents":{"traceparent":"00-1","n":1}}"#)
    }

    @Test("each element is taken or rejected by itself, by its place")
    func rejections() throws {
        let decoded = try decode(
            "17", cloudEvent(), cloudEvent(data: #""text""#), cloudEvent(id: "5"), cloudEvent(id: #""\ud800""#),
            cloudEvent(type: #""com.example.sms""#), cloudEvent(time: "1795167010"), cloudEvent(data: "{}"), "{}",
            cloudEvent(id: #""x""#, data: #"{"notification":{"id":"a\u0000b"}}"#),
            cloudEvent(data: #"{\#(Self.notification),"x":"\#(String(repeating: "x", count: Bounds.event))"}"#),
            cloudEvent(data: #"{\#(Self.notification),"text":"\ud800","input":1e999}"#))
        #expect(
            decoded.items.map { $0.rejection?.reason } == [
                .notAnObject, nil, .notAnObject, .invalidID, .invalidID, .unknownType, .invalidTime,
                .missingNotification, .missingField, .invalidField, .tooLarge, nil,
            ])
        #expect(decoded.items[10].rejectedID?.description == Self.id)
        #expect(decoded.rejected.allSatisfy { $0.rejection.detail.hasPrefix("events[\($0.index)]") })
    }

    @Test("a rejected event is kept as the event that it stands for, so that it can be tried again")
    func kept() throws {
        let decoded = try decode(cloudEvent(type: #""story.ended""#))
        let again = try EnvelopeDecoder().decode(
            body: Array(#"{"events":[\#(decoded.rawEvent(0).replacing("ended", with: "finished"))]}"#.utf8),
            receivedAt: received)
        #expect(again.items.first?.event?.id.description == Self.id)
        #expect(again.install(of: 0).description == install)
    }

    @Test("what is no batch, or too much for one, is refused as a whole")
    func refused() throws {
        func refusal(_ body: String) -> EnvelopeError? {
            do throws(EnvelopeError) {
                _ = try EnvelopeDecoder().decode(cloudEvents: Array(body.utf8), receivedAt: received)
                return nil
            } catch { return error }
        }
        #expect(refusal("{}") == .notAnArray)
        #expect(refusal(#"{"x":"\ud800"}"#) == .notAnArray)
        #expect(refusal("[]") == nil)
        #expect(refusal("[\(Array(repeating: "1", count: 1001).joined(separator: ","))]") == .tooManyEvents(1001))
        if case .notJSON? = refusal("[{]") {} else { Issue.record("it is no JSON") }
        #expect(
            refusal(String(repeating: " ", count: Bounds.unpackedBody) + "[]") == .tooLarge(Bounds.unpackedBody + 2))
        // The most that an envelope can grow by.
        let short = #"{"id":"","id":"x","subject":"\#(install)","data":{}}"#
        #expect(refusal("[\(Array(repeating: short, count: 1000).joined(separator: ","))]") == nil)
    }
}
