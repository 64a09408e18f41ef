import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing
import Values

@Suite("Decoding: the envelope")
struct EnvelopeTests {
    @Test("the example of the interface's description is read to the last member")
    func example() throws {
        let decoded = try decode(
            """
            { "sent_at": "2026-11-20T09:30:12.412Z",
              "source": { "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "platform": "ios", "os_version": "26.1",
                          "app_version": "4.2.0", "sdk": "bellwether-swift/0.9.0", "device_model": "iPhone17,1",
                          "locale": "th-TH", "time_zone": "Asia/Bangkok", "authorization": "authorized" },
              "events": [
                { "id": "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d", "type": "notification.received",
                  "at": "2026-11-20T09:30:10.001Z", "seq": 17,
                  "notification": { "fcm_message_id": "0:1732181410001%31bd1c96", "id": "req-1",
                                    "category": "PW_STORIES", "thread": "promo", "campaign": "black-friday",
                                    "origin": "remote", "alert": true },
                  "via": "service_extension",
                  "media": { "kind": "image", "outcome": "attached", "bytes": 120344, "ms": 420, "network": "wifi" }
                } ] }
            """)
        #expect(decoded.sentAt?.description == "2026-11-20T09:30:12.412000Z")
        let event = try #require(decoded.items.first?.event)
        #expect(event.id.description == "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d")
        #expect(event.type == .notificationReceived)
        #expect(event.deviceAt.description == "2026-11-20T09:30:10.001000Z")
        #expect(event.occurredAt == event.deviceAt)
        #expect((event.receivedAt, event.timeSource, event.seq) == (received, .device, 17))
        #expect(
            event.notification
                == Notification(
                    fcmMessageID: "0:1732181410001%31bd1c96", id: "req-1", category: "PW_STORIES", thread: "promo",
                    campaign: "black-friday", origin: .remote, alert: true))
        #expect(event.notificationKey == "1732181410001")
        let media = Media(kind: .image, outcome: .attached, bytes: 120_344, ms: 420, network: .wifi)
        #expect(event.interaction == .received(Receipt(via: .serviceExtension, media: media)))
        #expect(event.extra == nil)
        let source = event.source
        #expect(source.installID.description == install)
        #expect(
            [source.platform, source.osVersion, source.appVersion, source.sdk, source.deviceModel, source.locale]
                == ["ios", "26.1", "4.2.0", "bellwether-swift/0.9.0", "iPhone17,1", "th-TH"])
        #expect((source.timeZone, source.fid, source.authorization) == ("Asia/Bangkok", nil, .authorized))
    }

    @Test(
        "a body of which nothing can be read is refused as a whole",
        arguments: [
            ("[]", .notAnObject), ("7", .notAnObject), (#""events""#, .notAnObject), ("null", .notAnObject),
            ("{}", .noEvents), (#"{"events":null}"#, .noEvents), (#"{"events":{}}"#, .noEvents),
            (#"{"events":"[]"}"#, .noEvents), (#"{"event":[]}"#, .noEvents), (#"{"Events":[]}"#, .noEvents),
            (#"{"events":[],"events":null}"#, .noEvents),
            (#"{"events":[],"source":[]}"#, .sourceNotObject), (#"{"events":[],"source":5}"#, .sourceNotObject),
            (#"{"events":[],"source":{},"source":"x"}"#, .sourceNotObject),
        ] as [(String, EnvelopeError)])
    func unreadable(text: String, error: EnvelopeError) {
        #expect(throws: error) { try decode(text) }
    }

    @Test(
        "what is not JSON is refused with its place",
        arguments: [
            ("", "byte 0"), ("   ", "byte 3"), (#"{"events":[}"#, "byte 11"), (#"{"events":[]} x"#, "byte 14"),
            (#"{"events":[{"id":01}]}"#, "byte 18"), ("{\"events\":[\"\u{1}\"]}", "byte 12"),
            ("{'events':[]}", "byte 1"),
            ("\u{feff}{\"events\":[]}", "byte 0"), (#"{"events":["\uD83D\uDE0"]}"#, "byte 23"),
        ])
    func notJSON(text: String, place: String) throws {
        let error = #expect(throws: EnvelopeError.self) { try decode(text) }
        guard case .notJSON(let detail) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains(place), "\(detail)")
    }

    @Test("bytes that are not UTF-8 are no JSON, in whatever member they stand")
    func notUTF8() {
        for bad in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]] as [[UInt8]] {
            let body = Array(#"{"events":[],"x":""#.utf8) + bad + Array("\"}".utf8)
            let error = #expect(throws: EnvelopeError.self) {
                try EnvelopeDecoder().decode(body: body, receivedAt: received)
            }
            #expect(error?.description == "the body is not JSON: the text is not UTF-8 (byte 18)")
        }
    }

    @Test("an empty list of events is an envelope")
    func empty() throws {
        let decoded = try decode(#"{"events":[]}"#)
        #expect(decoded.items.isEmpty && decoded.drops.isEmpty && decoded.sentAt == nil && decoded.rawSource == nil)
    }

    @Test("a thousand events are an envelope, one more is too large, before anything else is said of it")
    func tooMany() throws {
        let events = Array(repeating: EventText().text, count: 1001)
        #expect(try decode(envelope(Array(events.dropLast()))).items.count == 1000)
        #expect(throws: EnvelopeError.tooManyEvents(1001)) { try decode(envelope(events)) }
        #expect(throws: EnvelopeError.tooManyEvents(1001)) { try decode(envelope(events, source: "7")) }
    }

    @Test("a body over 8 MiB is too large")
    func tooLarge() throws {
        let body = Array(envelope([EventText().text]).utf8)
        let most = body + Array(repeating: UInt8(ascii: " "), count: (8 << 20) - body.count)
        let decoder = EnvelopeDecoder()
        #expect(try decoder.decode(body: most, receivedAt: received).items.first?.event != nil)
        #expect(throws: EnvelopeError.tooLarge((8 << 20) + 1)) {
            try decoder.decode(body: most + [UInt8(ascii: " ")], receivedAt: received)
        }
        #expect(try decoder.decode(body: body, receivedAt: received).items.first?.event != nil)
    }

    @Test("of repeated keys the last wins, also for the envelope's own and however they are escaped")
    func repeatedKeys() throws {
        let good = EventText().text
        let decoded = try decode(
            #"{"events":[1,2,3],"source":5,"sent_at":"x","\u0065vents":[\#(good)],"source":{"install_id":"\#(install)"},"#
                + #""sent_at":"2026-11-20T09:30:12Z"}"#)
        #expect(decoded.items.count == 1)
        #expect(decoded.items[0].event?.source.installID.description == install)
        #expect(decoded.sentAt?.description == "2026-11-20T09:30:12.000000Z")
        #expect(decoded.rawEvent(0) == good)
        #expect(decoded.rawSource == #"{"install_id":"\#(install)"}"#)
    }

    @Test(
        "an unreadable sent_at counts as absent",
        arguments: [
            "null", "\"\"", "\"yesterday\"", "true", "[]", "{}", "0", "-1", "1e400", "\"1999-12-31T23:59:59Z\"",
            "\"2026-11-20T09:30:12\"", "\"\\ud800\"",
        ])
    func unreadableSentAt(text: String) throws {
        let decoded = try decode(envelope([EventText().text], more: "\"sent_at\":\(text),"))
        #expect(decoded.sentAt == nil)
        #expect(decoded.items[0].event?.timeSource == .device)
    }

    @Test("the clock's skew between sent_at and receipt corrects the events, ahead of us they are clamped")
    func timeRule() throws {
        func decodedEvent(at: String, sentAt: String) throws -> Event? {
            try decode(envelope([EventText().with("at", at).text], more: "\"sent_at\":\(sentAt),")).items[0].event
        }
        let corrected = try decodedEvent(at: #""2026-11-20T08:20:00Z""#, sentAt: #""2026-11-20T08:30:13Z""#)
        #expect(corrected?.occurredAt.description == "2026-11-20T09:20:00.000000Z")
        #expect(corrected?.deviceAt.description == "2026-11-20T08:20:00.000000Z")
        #expect(corrected?.timeSource == .corrected)
        let clamped = try decodedEvent(at: #""2026-11-20T09:35:13.000001Z""#, sentAt: "1795167013000")
        #expect((clamped?.occurredAt, clamped?.timeSource) == (received, .clamped))
    }

    @Test("unknown members of the envelope are nobody's")
    func unknownMembers() throws {
        let decoded = try decode(envelope([EventText().text], more: #""note":{"a":["\u0000"]},"batch":1e400,"#))
        #expect(decoded.items[0].event != nil)
        #expect(decoded.items[0].event?.extra == nil)
    }
}
