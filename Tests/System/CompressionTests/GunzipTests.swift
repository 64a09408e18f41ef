import CZlib
import Compression
import Testing

@Suite("gunzip")
struct GunzipTests {
    @Test("what was packed comes back, whatever its size", arguments: [0, 1, 17, 65_535, 65_536, 65_537, 1_000_000])
    func roundTrip(count: Int) throws {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...15, using: &generator) }
        #expect(try gunzip(gzip(bytes), limit: count) == bytes)
    }

    @Test("one byte over the limit is too large, the limit itself is not")
    func limit() throws {
        let packed = gzip(Array(repeating: 7, count: 100_000))
        #expect(try gunzip(packed, limit: 100_000).count == 100_000)
        #expect(throws: GunzipError.tooLarge(limit: 99_999)) { try gunzip(packed, limit: 99_999) }
    }

    @Test("a bomb is refused at the limit, without unpacking it all")
    func bomb() {
        let part = gzip(Array(repeating: 0, count: 64 << 20))
        let packed = Array(repeatElement(part, count: 16).joined())
        let before = residentPeak()
        #expect(throws: GunzipError.tooLarge(limit: 1 << 20)) { try gunzip(packed, limit: 1 << 20) }
        #expect(residentPeak() - before < 16 << 10, "kilobytes more at the peak")
    }

    @Test("several members after one another unpack to all of them")
    func members() throws {
        let packed = gzip(Array("one ".utf8)) + gzip([]) + gzip(Array("two".utf8))
        #expect(try gunzip(packed, limit: 100) == Array("one two".utf8))
    }

    @Test("whatever follows the last member is corrupt")
    func trailingGarbage() {
        let packed = gzip(Array("body".utf8))
        #expect(throws: GunzipError.corrupt) { try gunzip(packed + [1, 2, 3], limit: 100) }
        #expect(throws: GunzipError.corrupt) { try gunzip(packed + Array(repeating: 0, count: 512), limit: 100) }
    }

    @Test("every proper prefix is truncated")
    func truncated() {
        let packed = gzip(Array("a body that is cut somewhere".utf8))
        for length in 0..<packed.count {
            #expect(throws: GunzipError.truncated, "\(length) bytes") {
                try gunzip(Array(packed.prefix(length)), limit: 100)
            }
        }
    }

    @Test("a wrong checksum, a wrong magic number, zlib's own format and plain text are corrupt")
    func corrupt() {
        var checksum = gzip(Array("body".utf8))
        checksum[checksum.count - 5] ^= 1
        #expect(throws: GunzipError.corrupt) { try gunzip(checksum, limit: 100) }
        #expect(throws: GunzipError.corrupt) { try gunzip(Array(#"{"events":[]}"#.utf8), limit: 100) }
        #expect(throws: GunzipError.corrupt) { try gunzip(deflated(Array("body".utf8), windowBits: 15), limit: 100) }
    }

    @Test("no damaged byte makes it do anything but answer")
    func mutations() {
        let packed = gzip(Array("the quick brown fox jumps over the lazy dog".utf8))
        for index in packed.indices {
            for bit in 0..<8 {
                var damaged = packed
                damaged[index] ^= 1 << UInt8(bit)
                // Damage to the header's time or system goes unseen; all else must be refused.
                if let unpacked = try? gunzip(damaged, limit: 1000) {
                    #expect(unpacked == Array("the quick brown fox jumps over the lazy dog".utf8))
                }
            }
        }
    }
}

private func gzip(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: 15 + 16) }

private func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
        &stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var (input, output) = (bytes, [UInt8](repeating: 0, count: bytes.count + 1024))
    let written = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            let status = deflate(&stream, Z_FINISH)
            precondition(status == Z_STREAM_END)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output.prefix(written))
}
