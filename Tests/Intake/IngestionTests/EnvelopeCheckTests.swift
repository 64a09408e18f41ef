import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing

@Suite("What is said of an envelope before it is sent")
struct EnvelopeCheckTests {
    private let first = EventText("notification.opened", id: "00000000-0000-0000-0000-000000000001").text

    private func check(_ events: String..., more: String = "") throws -> EnvelopeCheck {
        try EnvelopeCheck(Array(envelope(events, more: more).utf8), receivedAt: received)
    }

    @Test("each event has its fate, a rejection its reason and place, and what no column holds is shown")
    func fates() throws {
        let odd = first.replacing("000000000001", with: "000000000002").dropLast() + #","colour":"red\u202E"}"#
        let check = try check(first, String(odd), first, "17", more: #""dropped":[1],"#)
        let lines = check.text.split(separator: "\n")
        #expect(lines.count == 7 && lines[0] == "events[0]  accepted  notification.opened", "\(check.text)")
        #expect(lines[1].hasPrefix(#"events[1]  accepted  notification.opened  extra: {"colour":"red\u{202E}"#))
        #expect(lines[2] == "    colour: no such member: it is only kept in extra")
        #expect(lines[3].hasPrefix("events[2]  duplicate  notification.opened"))
        #expect(lines[4] == "events[3]  rejected  not_an_object: events[3]: must be an object, not a number")
        #expect(lines[5].hasPrefix("dropped[0]: ") && lines[6] == "accepted 2, duplicate 1, rejected 1")
        #expect(!check.isClean)
        #expect(
            check.json.hasPrefix(
                #"{"accepted":2,"duplicate":1,"rejected":1,"results":[{"index":0,"result":"accepted","id":"00000000-0000-0000-0000-000000000001","type":"notification.opened","extra":null,"unread":[]},"#
            ))
        #expect(
            check.json.contains(
                #""extra":{"colour":"red\u202e"},"unread":[{"member":"colour","advice":"no such member: it is only kept in extra"}]}"#
            ), "\(check.json)")
        #expect(
            check.json.hasSuffix(
                #""invalid_dropped":["dropped[0]: must be an object with values that can be stored"]}"# + "\n"))
    }

    @Test("an envelope without a bad event is clean, one of which nothing can be read is refused")
    func clean() throws {
        #expect(try check(first).isClean && check().isClean)
        #expect(throws: EnvelopeError.noEvents) { try EnvelopeCheck(Array("{}".utf8), receivedAt: received) }
    }

    @Test(
        "a member that no column holds is told with what was meant",
        arguments: [
            (#""launch":"hot""#, #"launch: "hot" is none of cold, warm, foreground"#),
            (#""launch":"Cold""#, #"launch: "Cold" is none of cold, warm, foreground; did you mean cold?"#),
            (#""lanch":"cold""#, "lanch: no such member; did you mean launch?"),
            (#""actionId":"BUY""#, "actionId: no such member: it is only kept in extra"),
            (#""action_id":"BUY""#, "action_id: notification.opened has no such member; it belongs to action.tapped"),
            (#""campaign":"spring""#, "campaign: no such member; did you mean notification.campaign?"),
            (#""_dropped":1"#, "_dropped: the unknown members had more than 4096 bytes, so only their size is kept"),
        ])
    func meant(member: String, advice: String) throws {
        let event = first.dropLast() + "," + member + "}"
        let lines = try check(String(event)).text.split(separator: "\n")
        #expect(lines.count == 3 && lines[1] == "    \(advice)", "\(lines)")
    }

    @Test("members of inner objects are told by their path, and at most twenty of an event")
    func inner() throws {
        let source = #""source":{"authorisation":"authorized","settings":{"alerts":"on","sounds":"loud"}}"#
        let lines = try check(String(first.dropLast() + "," + source + "}")).text.split(separator: "\n")
        #expect(
            Set(lines.dropFirst().dropLast()) == [
                "    source.authorisation: no such member; did you mean authorization?",
                #"    source.settings.sounds: "loud" is none of on, off, unsupported"#,
            ], "\(lines)")
        let many = (0..<50).map { "\"member\($0)\":1" }.joined(separator: ",")
        #expect(try check(String(first.dropLast() + "," + many + "}")).text.split(separator: "\n").count == 22)
    }
}
