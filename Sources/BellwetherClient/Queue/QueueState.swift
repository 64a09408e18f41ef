internal import Foundation

/// What the queue knows beside its segments: small, and replaced as a whole.
///
/// It may be lost without harm to any event: what was settled is sent again, which the server recognises.
struct QueueState: Codable, Hashable, Sendable {
    /// Every seq up to this one is done with: stored, refused for ever, or dropped.
    var settled: Int64 = 0
    var drops = Drops()
    var clock = AgeClock()
    var pace = Pace()

    /// The file's bytes: JSON, and its checksum on a line of its own.
    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let json = [UInt8](try encoder.encode(self))
            return json + Array("\n\(Checksum.of(json[...]))\n".utf8)
        }
    }

    /// Nothing, if the bytes are damaged or foreign.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 10)
        guard lines.count == 2, String(decoding: lines[1], as: UTF8.self) == "\(Checksum.of(lines[0]))",
            let state = try? JSONDecoder().decode(QueueState.self, from: Data(lines[0]))
        else { return nil }
        self = state
    }

    init() {}
}
