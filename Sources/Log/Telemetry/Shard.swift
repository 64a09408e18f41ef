package import Values

/// The part of the log that an install's events are in.
///
/// Frozen: every stored row holds the result. The function is splitmix64's finaliser, over the high word plus the
/// golden ratio's 64 bits, and again over that result XOR the low word; the shard is the remainder modulo the number of
/// shards, which is chosen when a database is created.
package enum Shard {
    /// How many shards a database may have. Each number divides the next, so installs that share a shard of 64 share
    /// one of 32, and so on.
    package static let counts: [Int16] = [4, 8, 16, 32, 64]
    package static let most: Int16 = 64
    package static let usual: Int16 = 16

    package static func of(_ install: UUID, among count: Int16) -> Int16 {
        Int16(mixed(mixed(install.high &+ 0x9e37_79b9_7f4a_7c15) ^ install.low) % UInt64(count))
    }

    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
