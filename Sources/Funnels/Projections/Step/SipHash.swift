package import Values

/// SipHash-2-4: a hash with a secret key of 128 bits. Who does not know the key cannot find texts whose hashes are
/// equal, however many hashes of other texts they have seen.
///
/// Swift's own `Hasher` has a new key in each process, so its values cannot be stored.
package struct SipHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    /// The bytes that do not fill a word yet, the first one lowest.
    private var tail: UInt64 = 0
    private var count: UInt64 = 0

    package init(key: UUID) {
        v0 = 0x736F_6D65_7073_6575 ^ key.high
        v1 = 0x646F_7261_6E64_6F6D ^ key.low
        v2 = 0x6C79_6765_6E65_7261 ^ key.high
        v3 = 0x7465_6462_7974_6573 ^ key.low
    }

    package mutating func add(_ byte: UInt8) {
        tail |= UInt64(byte) << (count % 8 * 8)
        count += 1
        guard count % 8 == 0 else { return }
        absorb(tail)
        tail = 0
    }

    /// Adds the eight bytes of a number. Only before the first single byte.
    package mutating func add(_ word: UInt64) {
        absorb(word)
        count += 8
    }

    /// Adds bytes; only once, and after all numbers.
    package mutating func add(_ bytes: Span<UInt8>) {
        var place = 0
        while bytes.count - place >= 8 {
            add(bytes.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
            place += 8
        }
        while place < bytes.count {
            add(bytes[place])
            place += 1
        }
    }

    package var value: UInt64 {
        var end = self
        end.absorb(count << 56 | tail)
        end.v2 ^= 0xFF
        for _ in 0..<4 { end.round() }
        return end.v0 ^ end.v1 ^ end.v2 ^ end.v3
    }

    private mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
        func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
        v0 &+= v1
        v1 = rotated(v1, 13) ^ v0
        v0 = rotated(v0, 32)
        v2 &+= v3
        v3 = rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = rotated(v1, 17) ^ v2
        v2 = rotated(v2, 32)
    }
}
