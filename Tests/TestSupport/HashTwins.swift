package import Postgres
package import Values

/// Event ids whose hash in the log's unique index is the same: Bob Jenkins' hash, as PostgreSQL computes it of a UUID, run
/// backwards from a result that was chosen.
package struct HashTwins {
    /// What PostgreSQL's hash of (install, app) adds to that of the event.
    private let seed: UInt64

    package init(install: UUID, app: Int32, on connection: inout Connection) throws {
        let seed: Int64 = try connection.query("SELECT uuid_hash_extended(\(install), \(Int64(app)))")[0].get(0)
        self.seed = UInt64(bitPattern: seed)
    }

    /// The id whose hash is `hash`; another for each number.
    package func id(_ number: UInt32, hash: UInt64) -> UUID {
        let start: UInt32 = 0x9e37_79b9 &+ 16 &+ 3_923_095
        var begun = State(
            a: start &+ UInt32(truncatingIfNeeded: seed >> 32), b: start &+ UInt32(truncatingIfNeeded: seed), c: start)
        begun.mix()
        var state = State(a: number, b: UInt32(truncatingIfNeeded: hash >> 32), c: UInt32(truncatingIfNeeded: hash))
        state.unfinish()
        let last: UInt32 = 0x1234_5678
        state.a &-= last
        state.unmix()
        func word(_ first: UInt32, _ second: UInt32) -> UInt64 {
            UInt64(first.byteSwapped) << 32 | UInt64(second.byteSwapped)
        }
        return UUID(
            high: word(state.a &- begun.a, state.b &- begun.b), low: word(state.c &- begun.c, last))
    }

    private struct State {
        var a: UInt32
        var b: UInt32
        var c: UInt32

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
}

extension UInt32 {
    fileprivate func rotated(_ bits: UInt32) -> UInt32 { self << bits | self >> (32 - bits) }
}
