extension UUID {
    /// The namespace of names that are addresses (RFC 9562, 6.6).
    package static let addresses = UUID(high: 0x6ba7_b811_9dad_11d1, low: 0x80b4_00c0_4fd4_30c8)

    /// The id of version 5 that everybody derives from this name in this namespace (RFC 9562, 5.5).
    package init(named name: some Sequence<UInt8>, in namespace: UUID) {
        var text: [UInt8] = []
        for word in [namespace.high, namespace.low] {
            for byte in 0..<8 { text.append(UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * byte))) }
        }
        text.append(contentsOf: name)
        let digest = SHA1.digest(of: text)
        let high = UInt64(digest[0]) << 32 | UInt64(digest[1])
        let low = UInt64(digest[2]) << 32 | UInt64(digest[3])
        self.init(high: high & ~0xf000 | 0x5000, low: low & (1 << 62 - 1) | 1 << 63)
    }
}

/// SHA-1 (RFC 3174), which ids of version 5 are defined by. It protects nothing.
private enum SHA1 {
    static func digest(of bytes: [UInt8]) -> InlineArray<5, UInt32> {
        var state: InlineArray<5, UInt32> = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var padded = bytes
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for byte in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * byte))) }
        for block in stride(from: 0, to: padded.count, by: 64) {
            add(padded.span.extracting(block..<block + 64), to: &state)
        }
        return state
    }

    private static func add(_ block: Span<UInt8>, to state: inout InlineArray<5, UInt32>) {
        var words = InlineArray<80, UInt32>(repeating: 0)
        for index in 0..<16 {
            for byte in 0..<4 { words[index] = words[index] << 8 | UInt32(block[4 * index + byte]) }
        }
        for index in 16..<80 {
            let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words[index] = mixed << 1 | mixed >> 31
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let (chosen, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: (b & c | ~b & d, 0x5a82_7999)
                case 1: (b ^ c ^ d, 0x6ed9_eba1)
                case 2: (b & c | b & d | c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = (a << 5 | a >> 27) &+ chosen &+ e &+ constant &+ words[index]
            (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
    }
}
