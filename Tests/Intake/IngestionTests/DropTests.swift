import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing
import Values

@Suite("Decoding: dropped")
struct DropTests {
    private let id = "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d"

    private func decodeDrops(_ dropped: String) throws -> DecodedEnvelope {
        let decoded = try decode(envelope([EventText().text], more: "\"dropped\":\(dropped),"))
        #expect(decoded.items[0].event != nil, "no event is lost for an entry of dropped")
        return decoded
    }

    @Test("entries are read, with and without since, with a known reason and without")
    func entries() throws {
        let decoded = try decodeDrops(
            """
            [{"id":"\(id)","count":12,"since":"2026-11-19T00:00:00Z","reason":"age"},
             {"id":"\(id)","count":0,"reason":"size","more":1},{"id":"\(id)","count":3.0,"since":null,"reason":"unreadable"},
             {"id":"\(id)","count":1,"since":"once","reason":"age"},
             {"id":"\(id)","count":4,"reason":"boredom"},{"id":"\(id)","count":5}]
            """)
        let read = try #require(UUID(id))
        #expect(
            decoded.drops == [
                ClientDrop(id: read, count: 12, since: Timestamp(rfc3339: "2026-11-19T00:00:00Z"), reason: .age),
                ClientDrop(id: read, count: 0, since: nil, reason: .size),
                ClientDrop(id: read, count: 3, since: nil, reason: .unreadable),
                ClientDrop(id: read, count: 1, since: nil, reason: .age),
                ClientDrop(id: read, count: 4, since: nil, reason: nil),
                ClientDrop(id: read, count: 5, since: nil, reason: nil),
            ])
        #expect(decoded.invalidDrops == [])
    }

    @Test(
        "an entry that cannot be read is passed over and told",
        arguments: [
            ("7", "dropped[1]:"), ("null", "dropped[1]:"), ("{}", "dropped[1].id:"),
            (#"{"id":"x","count":1,"reason":"age"}"#, "dropped[1].id:"),
            (#"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","reason":"age"}"#, "dropped[1].count:"),
            (#"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","count":-1,"reason":"age"}"#, "dropped[1].count:"),
            (#"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","count":1.5,"reason":"age"}"#, "dropped[1].count:"),
            (#"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","count":1,"reason":7}"#, "dropped[1].reason:"),
            (#"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","count":1e400,"reason":"age"}"#, "dropped[1]:"),
            (
                #"{"id":"0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d","count":1,"since":[],"reason":"age"}"#,
                "dropped[1].since:"
            ),
        ])
    func invalid(entry: String, path: String) throws {
        let good = #"{"id":"\#(id)","count":1,"reason":"age"}"#
        let decoded = try decodeDrops("[\(good),\(entry),\(good)]")
        #expect(decoded.drops.count == 2)
        #expect(decoded.invalidDrops.count == 1)
        #expect(decoded.invalidDrops.first?.hasPrefix(path) == true, "\(decoded.invalidDrops)")
    }

    @Test("what is no array is told, and absent is nothing to tell")
    func notAnArray() throws {
        #expect(try decodeDrops("{}").invalidDrops == ["dropped: must be an array, not an object"])
        for absent in ["null", "\"\"", "[]"] {
            let decoded = try decodeDrops(absent)
            #expect(decoded.drops.isEmpty && decoded.invalidDrops.isEmpty)
        }
    }

    @Test("no more than a thousand entries are read")
    func bounded() throws {
        let entry = #"{"id":"\#(id)","count":1,"reason":"age"}"#
        let decoded = try decodeDrops("[\(Array(repeating: entry, count: 1500).joined(separator: ","))]")
        #expect((decoded.drops.count, decoded.invalidDrops.count) == (1000, 1))
    }
}
