import Compression
import Testing

@Suite("gzip")
struct GzipTests {
    @Test("what is packed unpacks to the same, whatever its size", arguments: [0, 1, 17, 65_536, 1_000_000])
    func roundTrip(count: Int) throws {
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...15) }
        #expect(try gunzip(Compression.gzip(bytes), limit: count) == bytes)
    }

    @Test("noise grows by little, and repetition shrinks by much")
    func sizes() throws {
        let noise = (0..<100_000).map { _ in UInt8.random(in: 0...255) }
        #expect(Compression.gzip(noise).count < 101_000)
        #expect(try gunzip(Compression.gzip(noise), limit: noise.count) == noise)
        #expect(Compression.gzip(Array(repeating: 7, count: 100_000)).count < 1_000)
    }
}
