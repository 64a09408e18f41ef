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
        #expect(lines.count == 6 && lines[0] == "events[0]  accepted  notification.opened", "\(check.text)")
        #expect(lines[1].hasPrefix(#"events[1]  accepted  notification.opened  extra: {"colour":"red\u{202E}"#))
        #expect(lines[2].hasPrefix("events[2]  duplicate  notification.opened"))
        #expect(lines[3] == "events[3]  rejected  not_an_object: events[3]: must be an object, not a number")
        #expect(lines[4].hasPrefix("dropped[0]: ") && lines[5] == "accepted 2, duplicate 1, rejected 1")
        #expect(!check.isClean)
        #expect(
            check.json.hasPrefix(
                #"{"accepted":2,"duplicate":1,"rejected":1,"results":[{"index":0,"result":"accepted","id":"00000000-0000-0000-0000-000000000001","type":"notification.opened","extra":null},"#
            ))
        #expect(check.json.contains(#""extra":{"colour":"red\u202e"}}"#), "\(check.json)")
        #expect(
            check.json.hasSuffix(
                #""invalid_dropped":["dropped[0]: must be an object with values that can be stored"]}"# + "\n"))
    }

    @Test("an envelope without a bad event is clean, one of which nothing can be read is refused")
    func clean() throws {
        #expect(try check(first).isClean && check().isClean)
        #expect(throws: EnvelopeError.noEvents) { try EnvelopeCheck(Array("{}".utf8), receivedAt: received) }
    }
}
