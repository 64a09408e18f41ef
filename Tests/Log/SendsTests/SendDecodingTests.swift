import Telemetry
import Testing
import Values

@testable import Sends

@Suite("Reading sends")
struct SendDecodingTests {
    @Test("only the id is required, and all that is told is kept")
    func members() throws {
        #expect(try send(#"{"id":"a"}"#) == Send(id: "a"))
        let whole = try send(
            #"""
            {"id":"a","campaign":"c","variant":"v","category":"k","thread":"t","topic":"o","analytics_label":"l",
             "sent_at":"2026-11-20T16:30:00.5+07:00","recipients":3,"message_ids":["m"],"payload":{"x":[1,{"y":null}]},
             "mood":"fine"}
            """#)
        var expected = Send(id: "a")
        (expected.campaign, expected.variant, expected.category) = ("c", "v", "k")
        (expected.thread, expected.topic, expected.analyticsLabel) = ("t", "o", "l")
        expected.sentAt = Timestamp(rfc3339: "2026-11-20T09:30:00.5Z")
        expected.recipients = 3
        expected.messageIDs = [Send.MessageID("m")]
        expected.payload = Array(#"{"x":[1,{"y":null}]}"#.utf8)
        #expect(whole == expected)
    }

    @Test("null and empty strings are absent, and of repeated members the last counts")
    func absent() throws {
        let odd = try send(
            #"{"id":"x","id":"a","campaign":"","variant":null,"sent_at":null,"recipients":null,"message_ids":null,"payload":null}"#
        )
        #expect(odd == Send(id: "a"))
    }

    @Test("a UUID is one id in whatever case it is spelled")
    func uuid() throws {
        let upper = try send(#"{"id":"8F2F6F0E-6A0C-4D3A-9A52-0D6C2F6F7A11"}"#)
        #expect(upper.id == "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11")
        #expect(try send(#"{"id":"Sale-A"}"#).id == "Sale-A")
    }

    @Test("message ids are one in all spellings of FCM, and each counts once")
    func messageIDs() throws {
        let ids = try send(
            #"{"id":"a","message_ids":["projects/p/messages/0:17%ab","17","0:17%cd","0:18%ef","","x",null]}"#
        ).messageIDs
        #expect(ids?.map(\.key) == ["17", "18", "x"])
        #expect(ids?.map(\.raw) == ["projects/p/messages/0:17%ab", "0:18%ef", "x"])
        #expect(try send(#"{"id":"a","message_ids":[]}"#).messageIDs == [])
        // To Swift these are equal.
        #expect(try send("{\"id\":\"a\",\"message_ids\":[\"\u{e9}\",\"e\u{301}\"]}").messageIDs?.count == 2)
    }

    @Test("what cannot be taken is refused for the first reason that applies, by the member's path")
    func refusals() throws {
        let long = String(repeating: "x", count: 257)
        let ids = (0...10_000).map { "\"\($0)\"" }.joined(separator: ",")
        let nested = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        for (json, complaint) in [
            ("[]", "not_an_object send: must be an object, not an array"),
            (
                #"{"payload":{"a":"\#(String(repeating: "y", count: 32 * 1024))"}}"#,
                "too_large send.payload: may have at most 32768 bytes, has 32776"
            ),
            (#"{"campaign":5}"#, "missing_field send.id: is required, and must be neither null nor empty"),
            (#"{"id":""}"#, "missing_field send.id: is required, and must be neither null nor empty"),
            (#"{"id":5,"campaign":5}"#, "invalid_id send.id: must be a string, not a number"),
            (#"{"id":"\#(long)"}"#, "invalid_id send.id: may have at most 256 bytes, has 257"),
            (#"{"id":"a\u0000"}"#, "invalid_id send.id: it contains the character U+0000"),
            (
                #"{"id":"a","sent_at":"soon","campaign":5}"#,
                "invalid_time send.sent_at: must be RFC 3339 with offset, or epoch milliseconds as a number, in the years 2000 to 9999"
            ),
            (
                #"{"id":"a","sent_at":1795167010}"#,
                "invalid_time send.sent_at: must be RFC 3339 with offset, or epoch milliseconds as a number, in the years 2000 to 9999; this looks like seconds: multiply by 1000"
            ),
            (#"{"id":"a","campaign":5}"#, "invalid_field send.campaign: must be a string, not a number"),
            (#"{"id":"a","topic":"\#(long)"}"#, "invalid_field send.topic: may have at most 256 bytes, has 257"),
            (
                #"{"id":"a","recipients":-1}"#,
                "invalid_field send.recipients: must be a whole number from 0 to 1000000000000"
            ),
            (
                #"{"id":"a","recipients":"7"}"#,
                "invalid_field send.recipients: must be a whole number from 0 to 1000000000000"
            ),
            (
                #"{"id":"a","recipients":1000000000001}"#,
                "invalid_field send.recipients: must be a whole number from 0 to 1000000000000"
            ),
            (
                #"{"id":"a","recipients":7.5}"#,
                "invalid_field send.recipients: must be a whole number from 0 to 1000000000000"
            ),
            (
                #"{"id":"a","recipients":99999999999999999999}"#,
                "invalid_field send.recipients: it contains a number beyond 64 bits or a double"
            ),
            (#"{"id":"a","message_ids":"m"}"#, "invalid_field send.message_ids: must be an array, not a string"),
            (#"{"id":"a","message_ids":["m",7]}"#, "invalid_field send.message_ids[1]: must be a string, not a number"),
            (
                #"{"id":"a","message_ids":["\#(long)"]}"#,
                "invalid_field send.message_ids[0]: may have at most 256 bytes, has 257"
            ),
            (
                #"{"id":"a","message_ids":[\#(ids)]}"#,
                "invalid_field send.message_ids: has 10001 entries, at most 10000 are allowed: report it as several sends, or give recipients instead"
            ),
            (#"{"id":"a","payload":"{}"}"#, "invalid_field send.payload: must be an object, not a string"),
            (
                #"{"id":"a","payload":{"aps":{"alert":"\u0000"}}}"#,
                "invalid_field send.payload.aps.alert: it contains a string with the character U+0000"
            ),
            (
                #"{"id":"a","payload":{"aps":{"alert":"\ud800"}}}"#,
                "invalid_field send.payload.aps.alert: it contains a string with a lone surrogate"
            ),
            (#"{"id":"a","payload":{"b":\#(nested)}}"#, "invalid_field"),
            (#"{"id":"a\ud800","recipients":1}"#, "invalid_id send.id: it cannot be stored"),
            (#"   {"id":"a\ud800","recipients":1}"#, "invalid_id send.id: it cannot be stored"),
        ] {
            let found = try refusal(json)
            #expect(found.hasPrefix(complaint), "\(json.prefix(80)): \(found)")
        }
    }

    @Test("32 KiB of payload and 10,000 messages are taken")
    func bounds() throws {
        let payload = #"{"a":"\#(String(repeating: "y", count: 32 * 1024 - 8))"}"#
        // Spaces do not count.
        #expect(try send(payload: "  " + payload + "  ").payload?.count == SendBounds.payload)
        let ids = (1...10_000).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try send(#"{"id":"a","message_ids":[\#(ids)]}"#).messageIDs?.count == 10_000)
    }

    @Test("each send of an envelope is taken or refused by itself, with its id where that can be read")
    func envelope() throws {
        let items = try SendsDecoder().decode(
            envelope: Array(
                #"{"sends":[5],"note":1,"sends":[{"id":"a"},{"id":"b","recipients":1e400},7,{"id":"\ud800"},{"id":"c"},{"id":"?","x":1e400}]}"#
                    .utf8))
        #expect(items.map { (try? $0.get())?.id } == ["a", nil, nil, nil, "c", nil])
        let refused = items.map { item -> String in
            guard case .failure(let refused) = item else { return "" }
            return "\(refused.id ?? "none"): \(refused.rejection.detail)"
        }
        #expect(
            refused == [
                "", "b: sends[1].recipients: it contains a number beyond 64 bits or a double",
                "none: sends[2]: must be an object, not a number",
                "none: sends[3].id: it cannot be stored", "",
                "?: sends[5].x: it contains a number beyond 64 bits or a double",
            ])
    }

    @Test("an envelope of which nothing can be read says why")
    func faults() {
        for (json, fault) in [
            ("", SendsFault.notJSON("there is nothing (byte 0)")), ("[]", .notAnObject), ("{}", .noSends),
            (#"{"sends":{}}"#, .noSends), (#"{"sends":[}"#, .notJSON("a value is expected here (byte 10)")),
            (#"{"sends":[\#(String(repeating: "1,", count: 1000))1]}"#, .tooManySends(1001)),
        ] {
            #expect(throws: fault) { _ = try SendsDecoder().decode(envelope: Array(json.utf8)) }
        }
        #expect(throws: SendsFault.tooLarge((8 << 20) + 1)) {
            _ = try SendsDecoder().decode(envelope: [UInt8](repeating: 32, count: (8 << 20) + 1))
        }
    }
}
