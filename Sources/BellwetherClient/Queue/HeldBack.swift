internal import Foundation

/// An event on its way into the queue.
struct Entry: Sendable {
    /// When it was recorded, in milliseconds since 1970.
    let time: Int64
    /// Gives the JSON object that tells of the install, as it stands in an envelope. Called with the queue held: it makes
    /// the install's id if there is none, and records nothing.
    let source: @Sendable () throws -> [UInt8]
    /// Makes the event's JSON object with its seq. Called with the queue held: quickly.
    let event: @Sendable (_ seq: Int64) -> [UInt8]
}

/// The events that a process could not write down because another held the queue: they wait in memory for the next time
/// that this process gets hold of it, and are lost should it end before.
struct WaitingRoom: Sendable {
    /// As many fit. An extension has little memory, and whoever holds the queue for so long has stopped.
    static let size = 100

    private(set) var entries: [Entry] = []
    /// What could not be kept at all, until the queue's own memory can be reached.
    private(set) var lost = Drops()

    /// Takes an event in, if there is room.
    mutating func take(_ entry: Entry) -> Bool {
        guard entries.count < WaitingRoom.size else { return false }
        entries.append(entry)
        return true
    }

    mutating func lose(since time: Int64, _ reason: Drop.Reason) { lost.add(1, since: time, reason: reason) }

    /// Everything in it, which leaves it empty.
    mutating func leave() -> WaitingRoom {
        defer { self = WaitingRoom() }
        return self
    }
}

/// Events for which the server had no room: older servers refuse one whose value is new to a full dictionary. Somebody can
/// make room there, so such an event is no fault of its own. They wait in the file `held-back`, a line each, and go to the end of
/// the queue again some hours later.
struct HeldBack: Sendable {
    /// The oldest go when the file would be larger, and are counted as dropped.
    static let limit = 1 << 20
    /// How long one waits, in milliseconds.
    static let rest: Int64 = 6 * 3_600_000

    let directory: QueueDirectory

    /// One of them.
    struct Line: Codable {
        /// When it was put here, and when it was recorded, in milliseconds of the device's clock.
        let at: Int64
        let time: Int64
        /// The JSON object that tells of its install, and its own.
        let source: String
        let event: String
    }

    /// Those that wait. What cannot be read is left out.
    var lines: [Line] {
        get throws {
            let bytes = try directory.contents(directory.heldBack, limit: HeldBack.limit * 2) ?? []
            return bytes.split(separator: 10).compactMap { try? JSONDecoder().decode(Line.self, from: Data($0)) }
        }
    }

    /// Puts these in the place of what the file holds; gives the times of those that found no room.
    func replace(with lines: [Line]) throws -> [Int64] {
        var packed = try lines.map { [UInt8](try JSONEncoder().encode($0)) }
        var gone: [Int64] = []
        var size = packed.reduce(0) { $0 + $1.count + 1 }
        while size > HeldBack.limit, !packed.isEmpty {
            size -= packed.removeFirst().count + 1
            gone.append(lines[gone.count].time)
        }
        try directory.replace(directory.heldBack, with: packed.flatMap { $0 + [10] })
        return gone
    }
}

extension Queue {
    /// Keeps these events of a batch for later. Before the batch is settled: who is killed in between sends them once more,
    /// and learns the same.
    func holdBack(_ events: [Batch.Event], of batch: Batch) throws {
        guard !events.isEmpty else { return }
        try exclusively { memory in
            let held = HeldBack(directory: directory)
            let lines = events.map { event in
                HeldBack.Line(
                    at: now, time: event.time, source: String(decoding: batch.sources[event.source], as: UTF8.self),
                    event: String(decoding: event.json, as: UTF8.self))
            }
            for time in try held.replace(with: try held.lines + lines) {
                memory.unrecorded.add(1, since: time, reason: .size)
            }
        }
    }

    /// Puts those that have waited long enough at the end of the queue. One that is as old as nothing in the queue may be is
    /// counted as dropped. A clock that was set back ends the wait.
    func takeUpHeldBack() throws {
        guard directory.hasHeldBack else { return }
        try exclusively { memory in
            let held = HeldBack(directory: directory)
            let lines = try held.lines
            let due = lines.filter { $0.at > now || now - $0.at >= HeldBack.rest }
            guard !due.isEmpty || lines.isEmpty else { return }
            for line in due {
                guard now - line.time < limits.age else {
                    memory.unrecorded.add(1, since: line.time, reason: .age)
                    continue
                }
                let entry = Entry(
                    time: line.time, source: { Array(line.source.utf8) }, event: { _ in Array(line.event.utf8) })
                let (_, written) = try write(entry, &memory)
                confirm(written)
            }
            _ = try held.replace(with: lines.filter { line in line.at <= now && now - line.at < HeldBack.rest })
            if lines.count == due.count { directory.removeHeldBack() }
        }
    }
}
