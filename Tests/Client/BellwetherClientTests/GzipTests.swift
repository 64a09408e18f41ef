import Compression
import Testing

@testable import BellwetherClient

@Suite("The client library packs what it sends")
struct GzipTests {
    @Test("what is packed unpacks to itself", arguments: [0, 1, 100, 600_000])
    func roundTrip(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }
        #expect(try gunzip(Gzip.pack(bytes), limit: 1 << 20) == bytes)
    }

    @Test("events shrink to a fraction")
    func shrinks() throws {
        let events = Array(String(repeating: #"{"type":"notification.received","at":1},"#, count: 1000).utf8)
        #expect(try Gzip.pack(events).count < events.count / 20)
    }
}
