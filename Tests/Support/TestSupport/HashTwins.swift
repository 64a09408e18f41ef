package import Postgres
package import Values

/// Event ids whose hash in the log's unique index is the same: Bob Jenkins' hash, as PostgreSQL computes it of a UUID,
/// run backwards from a result that was chosen.
package struct HashTwins {
    /// The state of the hash before the id is added.
    private let begun: JenkinsState

    /// Ids of events of this install: the hash of (install, app) is the seed.
    package init(install: UUID, app: Int32, on connection: inout Connection) throws {
        let seed: Int64 = try connection.query("SELECT uuid_hash_extended(\(install), \(Int64(app)))")[0].get(0)
        var begun = Self.start
        begun.add(UInt32(truncatingIfNeeded: UInt64(bitPattern: seed) >> 32), UInt32(truncatingIfNeeded: seed), 0)
        begun.mix()
        self.begun = begun
    }

    /// Ids that hash joins and `uuid_hash` take for one.
    package init() { begun = Self.start }

    private static let start = JenkinsState(all: 0x9e37_79b9 &+ 16 &+ 3_923_095)

    /// The id whose hash is `hash`; another for each number.
    package func id(_ number: UInt32, hash: UInt64) -> UUID {
        var state = JenkinsState(
            a: number, b: UInt32(truncatingIfNeeded: hash >> 32), c: UInt32(truncatingIfNeeded: hash))
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
}
