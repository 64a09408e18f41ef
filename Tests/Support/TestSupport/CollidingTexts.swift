/// Texts that PostgreSQL gives one hash: Bob Jenkins' hash, as `hashtext` and hash joins compute it, run backwards.
///
/// A text has two halves of 24 bytes. The first halves lead the hash into one state, the second halves from there into
/// another: n of each make n * n texts.
package enum CollidingTexts {
    /// At least so many texts of 48 ASCII characters, all different.
    package static func make(_ count: Int) -> [String] {
        var random = SystemRandomNumberGenerator()
        var side = 1
        while side * side < count { side += 1 }
        let start = JenkinsState(all: 0x9e37_79b9 &+ 48 &+ 3_923_095)
        let (middle, end) = (JenkinsState(using: &random), JenkinsState(using: &random))
        let first = halves(side, from: start, to: middle, &random)
        let second = halves(side, from: middle, to: end, &random)
        return first.flatMap { first in second.map { String(decoding: first + $0, as: UTF8.self) } }
    }

    /// Twelve bytes are chosen, and the twelve that follow make up for them, if they happen to be ASCII.
    private static func halves(
        _ count: Int, from start: JenkinsState, to end: JenkinsState, _ random: inout SystemRandomNumberGenerator
    ) -> [[UInt8]] {
        var before = end
        before.unmix()
        var halves: Set<[UInt8]> = []
        while halves.count < count {
            let chosen = (0..<3).map { _ in
                (0..<4).reduce(UInt32(0)) { word, _ in word << 8 | .random(in: 0x61...0x7A, using: &random) }
            }
            var state = start
            state.add(chosen[0], chosen[1], chosen[2])
            state.mix()
            let made = [before.a &- state.a, before.b &- state.b, before.c &- state.c]
            guard made.allSatisfy({ $0 & 0x8080_8080 == 0 && hasNoZeroByte($0) }) else { continue }
            halves.insert(
                (chosen + made).flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
        }
        return Array(halves)
    }

    private static func hasNoZeroByte(_ word: UInt32) -> Bool { (0..<4).allSatisfy { word >> ($0 * 8) & 0xFF != 0 } }
}

/// The state of Bob Jenkins' lookup3.
struct JenkinsState {
    var a: UInt32
    var b: UInt32
    var c: UInt32

    init(a: UInt32, b: UInt32, c: UInt32) { (self.a, self.b, self.c) = (a, b, c) }

    init(all word: UInt32) { self.init(a: word, b: word, c: word) }

    init(using random: inout SystemRandomNumberGenerator) {
        self.init(a: random.next(), b: random.next(), c: random.next())
    }

    mutating func add(_ first: UInt32, _ second: UInt32, _ third: UInt32) {
        a &+= first
        b &+= second
        c &+= third
    }

    mutating func mix() {
        a &-= c; a ^= c.rotated(4); c &+= b
        b &-= a; b ^= a.rotated(6); a &+= c
        c &-= b; c ^= b.rotated(8); b &+= a
        a &-= c; a ^= c.rotated(16); c &+= b
        b &-= a; b ^= a.rotated(19); a &+= c
        c &-= b; c ^= b.rotated(4); b &+= a
    }

    mutating func unmix() {
        b &-= a; c ^= b.rotated(4); c &+= b
        a &-= c; b ^= a.rotated(19); b &+= a
        c &-= b; a ^= c.rotated(16); a &+= c
        b &-= a; c ^= b.rotated(8); c &+= b
        a &-= c; b ^= a.rotated(6); b &+= a
        c &-= b; a ^= c.rotated(4); a &+= c
    }

    mutating func unfinish() {
        c &+= b.rotated(24); c ^= b
        b &+= a.rotated(14); b ^= a
        a &+= c.rotated(4); a ^= c
        c &+= b.rotated(16); c ^= b
        b &+= a.rotated(25); b ^= a
        a &+= c.rotated(11); a ^= c
        c &+= b.rotated(14); c ^= b
    }
}

extension UInt32 {
    fileprivate func rotated(_ bits: UInt32) -> UInt32 { self << bits | self >> (32 - bits) }
}
