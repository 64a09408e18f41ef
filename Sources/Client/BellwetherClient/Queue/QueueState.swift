internal import Foundation

/// What the queue knows besides its segments. It is small, and replaced as a whole.
///
/// Losing it harms no event: settled events are sent again, and the server detects duplicates.
struct QueueState: Codable, Hashable, Sendable {
    /// Every seq up to this one is settled: stored, refused for ever, or dropped.
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

    /// Nil if the bytes are damaged or not ours: no queue writes numbers that are not plausible.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 10)
        guard lines.count == 2, String(decoding: lines[1], as: UTF8.self) == "\(Checksum.of(lines[0]))",
            let state = try? JSONDecoder().decode(QueueState.self, from: Data(lines[0])),
            (0...QueueState.mostSettled).contains(state.settled), state.drops.isPlausible, state.clock.isPlausible,
            state.pace.isPlausible
        else { return nil }
        self = state
    }

    init() {}

    /// It leaves room for more seqs than there will ever be.
    private static let mostSettled: Int64 = 1 << 52
}

/// How long the queue has been in use, in milliseconds. The age of an event is measured by this clock.
///
/// The device's clock jumps, and a phone that believes for a minute that it is 2040 must not drop waiting events. So
/// each forward step of the device's clock counts for at most a day, and a backward step for nothing. After a year in a
/// drawer, a phone's events are one day older, and are sent.
struct AgeClock: Codable, Hashable, Sendable {
    static let longestStep: Int64 = 86_400_000
    /// How often its reading is saved.
    static let interval: Int64 = 3_600_000

    /// The reading when it was last saved.
    private(set) var reading: Int64 = 0
    /// The device's time when it was last saved.
    private(set) var time: Int64?

    var isPlausible: Bool {
        reading >= 0 && Moment.possible.contains(reading) && time.map(Moment.possible.contains) ?? true
    }

    func reading(at now: Int64) -> Int64 {
        guard let time else { return reading }
        return reading + min(max(now - time, 0), AgeClock.longestStep)
    }

    /// Whether it should be saved.
    func isDue(at now: Int64) -> Bool {
        guard let time else { return true }
        return now < time || now - time >= AgeClock.interval
    }

    /// Advances the reading. It never stays behind the readings in the records, in case the state was lost.
    mutating func advance(to now: Int64, atLeast seen: Int64 = 0) {
        reading = max(reading(at: now), seen)
        time = now
    }
}

/// Dropped events, as reported to the server (CONTRACT: `dropped`).
struct Drop: Codable, Hashable, Sendable {
    enum Reason: String, Codable, CaseIterable, Sendable {
        /// They waited for longer than the queue keeps.
        case age
        /// There was no room.
        case size
        /// They were damaged on disk, or written by an unknown version.
        case unreadable
    }

    /// The highest count: all seqs that there are.
    static let most: Int64 = 1 << 53

    let id: UUID
    var count: Int64
    /// When the first of them was recorded, in milliseconds since 1970.
    var since: Int64?
    let reason: Reason
    /// Whether it was reported. From then on it never changes, because the server knows it by its id.
    var isTold = false

    /// Its JSON in an envelope.
    var json: String {
        let since = since.map { #","since":"\#(Moment(milliseconds: $0))""# } ?? ""
        return #"{"id":"\#(id.uuidString.lowercased())","count":\#(count)\#(since),"reason":"\#(reason.rawValue)"}"#
    }
}

/// The drops that the server has not acknowledged: at most two per reason, one that was reported and one that still
/// grows.
struct Drops: Codable, Hashable, Sendable {
    private(set) var entries: [Drop] = []

    var isEmpty: Bool { entries.isEmpty }

    var isPlausible: Bool {
        entries.count <= 2 * Drop.Reason.allCases.count
            && entries.allSatisfy { drop in
                (1...Drop.most).contains(drop.count) && drop.since.map(Moment.possible.contains) ?? true
            }
    }

    mutating func add(_ count: Int64, since: Int64?, reason: Drop.Reason) {
        guard count > 0 else { return }
        guard let index = entries.firstIndex(where: { $0.reason == reason && !$0.isTold }) else {
            entries.append(Drop(id: UUID(), count: count, since: since, reason: reason))
            return
        }
        entries[index].count = min(entries[index].count + count, Drop.most)
        entries[index].since = [entries[index].since, since].compactMap(\.self).min()
    }

    /// What to report to the server: what was reported before until it is acknowledged, and only then what came later.
    mutating func tell() -> [Drop] {
        if !entries.contains(where: \.isTold) {
            for index in entries.indices { entries[index].isTold = true }
        }
        return entries.filter(\.isTold)
    }

    mutating func remove(_ ids: Set<UUID>) { entries.removeAll { ids.contains($0.id) } }
}
