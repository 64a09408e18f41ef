import CatalogueSupport
import Envelopes
import Ingestion
import JSON
import Telemetry
import Testing
import Values

@Suite("Decoding: anything at all")
struct DecoderFuzzTests {
    private static let seeds: [[UInt8]] = [
        envelope(
            [
                EventText().with("via", "\"foreground\"").with("presentation", "[\"list\"]").text,
                EventText("action.tapped").with("x", #"{"a":["\ud83d\ude00",1e400,"\u0000"]}"#).text,
                EventText("permission.changed").with("notification", #"{"id":"a"}"#).with("previous", "\"x\"").text,
                EventText("story.started").with("source", "{\"install_id\":\"\(install)\",\"y\":2}").text,
            ],
            source: "{\"install_id\":\"\(install)\",\"platform\":\"ios\",\"z\":{\"text\":1}}",
            more: "\"sent_at\":1795167013000,\"dropped\":[{\"id\":\"\(install)\",\"count\":1,\"reason\":\"age\"}],"),
        envelope([
            EventText().with("deep", String(repeating: "[", count: 40) + String(repeating: "]", count: 40)).text, "7",
        ]),
    ].map { Array($0.utf8) }

    private func mutated(_ body: [UInt8], _ random: inout some RandomNumberGenerator) -> [UInt8] {
        let fragments =
            [
                "{", "}", "[", "]", "\"", ",", ":", "\\", "\\u0000", "\\ud800", "1e400", "null", "99999999999999999999",
                "-",
                "\"events\":", "\"source\":", "\"id\":", "é", "text", "\u{0}",
            ].map { Array($0.utf8) } + [[0xff], [0xed, 0xa0, 0x80]]
        var body = body
        for _ in 0..<Int.random(in: 1...4, using: &random) where !body.isEmpty {
            let start = Int.random(in: 0..<body.count, using: &random)
            let end = min(body.count, start + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: body.removeSubrange(start..<end)
            case 1: body.insert(contentsOf: body[start..<end], at: Int.random(in: 0...body.count, using: &random))
            case 2: body.replaceSubrange(start..<end, with: fragments.randomElement(using: &random) ?? [])
            default: body.insert(contentsOf: fragments.randomElement(using: &random) ?? [], at: start)
            }
        }
        return body
    }

    @Test(
        "whatever arrives, the answer is an error or a result for each event, and stored is only what PostgreSQL holds")
    func mutations() {
        var random = SystemRandomNumberGenerator()
        let decoder = EnvelopeDecoder()
        let parser = JSONParser(maximumBytes: 1 << 20)
        var outcomes = (errors: 0, rejected: 0, events: 0)
        for round in 0..<6000 {
            let body = mutated(DecoderFuzzTests.seeds[round % DecoderFuzzTests.seeds.count], &random)
            guard let decoded = try? decoder.decode(body: body, receivedAt: received) else {
                outcomes.errors += 1
                continue
            }
            for (index, item) in decoded.items.enumerated() {
                #expect(String(validating: decoded.raw.event(index), as: UTF8.self) != nil)
                switch item {
                case .rejected(_, _, let rejection):
                    outcomes.rejected += 1
                    #expect(!rejection.detail.contains("\u{0}") && rejection.detail.utf8.count < 400)
                case .event(let event):
                    outcomes.events += 1
                    let key = event.notificationKey
                    #expect(key != nil || event.type.isAboutInstall)
                    #expect(key.map { !$0.isEmpty && !$0.utf8.contains(0) } ?? true)
                    #expect(
                        Timestamp.plausible.contains(event.deviceAt) && Timestamp.plausible.contains(event.occurredAt))
                    guard let extra = event.extra else { continue }
                    let isFit = parser.withDocument(extra.span) { root in root.isObject && !root.holdsNUL }
                    #expect((try? isFit.get()) == true, "\(event.extraText ?? "")")
                    #expect(extra.count <= Bounds.extra)
                }
            }
        }
        #expect(outcomes.errors > 100 && outcomes.rejected > 100 && outcomes.events > 100, "\(outcomes)")
    }
}
