import Foundation
import TestSupport
import Testing

@Suite("Checking an envelope without a service")
struct EventCheckTests {
    /// No database is there, and none is missed.
    private let bellwether = Bellwether(database: "postgresql://127.0.0.1:1/none")

    @Test("good envelopes end with 0, rejected events with 1, and both formats say which and why")
    func check() throws {
        let directory = TemporaryDirectory()
        let good = Wire.envelope(Wire.event(more: #""colour":"red""#))
        try good.write(toFile: directory("good.json"), atomically: true, encoding: .utf8)
        let fine = try bellwether.run("event", "check", directory("good.json"))
        #expect(fine.status == 0 && fine.messages.isEmpty, "\(fine)")
        #expect(fine.output.hasPrefix(#"events[0]  accepted  notification.opened  extra: {"colour":"red"}"#), "\(fine)")
        #expect(fine.output.contains("\n    colour: no such member: it is only kept in extra\n"), "\(fine)")
        #expect(fine.output.hasSuffix("\naccepted 1, duplicate 0, rejected 0\n"))
        let bad = Wire.envelope(Wire.event(), Wire.event(type: "notification.eaten"))
        let json = try bellwether.run("event", "check", "-", "--format", "json", input: bad)
        #expect(json.status == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let results = try #require(object["results"] as? [[String: Any]])
        #expect(results.map { $0["result"] as? String } == ["accepted", "rejected"])
        #expect(results[1]["reason"] as? String == "unknown_type")
        #expect((results[1]["detail"] as? String)?.contains("events[1].type") == true)
    }

    @Test("what the service would refuse as a whole is told as a failure")
    func refused() throws {
        for (input, hint) in [
            ("{", "not JSON"), ("{}", "events"), (String(repeating: " ", count: 8 << 20) + "{}", "8388608 bytes"),
        ] {
            let ended = try bellwether.run("event", "check", "-", input: input)
            #expect(ended.status == 1 && ended.output.isEmpty && ended.messages.contains(hint), "\(ended.messages)")
        }
        #expect(try bellwether.run("event", "check", "/no/such/file").messages.contains("cannot read"))
        #expect(try bellwether.run("event", "check").status == 64)
    }
}
