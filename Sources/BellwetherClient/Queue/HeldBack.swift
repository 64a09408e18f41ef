internal import Foundation

/// An event on its way into the queue.
struct Entry: Sendable {
    /// When it was recorded, in milliseconds since 1970.
    let time: Int64
    /// Returns the JSON object that describes the install, as in an envelope. Called with the queue held: it creates the
    /// install's id if there is none, and records nothing.
    let source: @Sendable () throws -> [UInt8]
    /// Returns the event's JSON object with its seq. Called with the queue held, so it must be quick.
    let event: @Sendable (_ seq: Int64) -> [UInt8]
}

/// The events that a process could not write because another process held the queue. They wait in memory until this
/// process next gets the queue, and are lost if it ends before that.
struct WaitingRoom: Sendable {
    /// The number of events that fit. An extension has little memory, and a process that holds the queue this long has
    /// stopped.
    static let size = 100

    private(set) var entries: [Entry] = []
    /// Counts the events that could not be kept at all, until the queue's own memory is available.
    private(set) var lost = Drops()

    /// Takes an event, if there is room.
    mutating func take(_ entry: Entry) -> Bool {
        guard entries.count < WaitingRoom.size else { return false }
        entries.append(entry)
        return true
    }

    mutating func lose(since time: Int64, _ reason: Drop.Reason) { lost.add(1, since: time, reason: reason) }

    /// Removes and returns everything.
    mutating func leave() -> WaitingRoom {
        defer { self = WaitingRoom() }
        return self
    }
}

/// Events for which the server had no room: older servers refuse an event if its value is new to a full dictionary.
/// Someone can make room there, so the event itself is fine. These events wait in the file `held-back`, one per line,
/// and return to the end of the queue some hours later.
struct HeldBack: Sendable {
    /// If the file would be larger, the oldest events are removed and counted as dropped.
    static let limit = 1 << 20
    /// How long one waits, in milliseconds.
    static let rest: Int64 = 6 * 3_600_000

    let directory: QueueDirectory

    struct Line: Codable {
        /// When it was put here, and when it was recorded, in milliseconds of the device's clock.
        let at: Int64
        let time: Int64
        /// The JSON object of its install, and the one of the event.
        let source: String
        let event: String

        /// Nil if the bytes are damaged, or not ours: they may be JSON and still tell of no event.
        init?(_ bytes: ArraySlice<UInt8>) {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(bytes)),
                Moment.possible.contains(line.at), Moment.possible.contains(line.time),
                line.source.utf8.count + line.event.utf8.count <= Record.longestBody,
                [line.source, line.event].allSatisfy({ JSONValue(parsingObject: $0) != nil })
            else { return nil }
            self = line
        }

        init(at: Int64, time: Int64, source: String, event: String) {
            (self.at, self.time, self.source, self.event) = (at, time, source, event)
        }
    }

    /// The waiting events, and how many lines cannot be read.
    var contents: (lines: [Line], unreadable: Int64) {
        get throws {
            let bytes = try directory.contents(directory.heldBack, limit: HeldBack.limit * 2) ?? []
            let all = bytes.split(separator: 10)
            let lines = all.compactMap { Line($0) }
            return (lines, Int64(all.count - lines.count))
        }
    }

    /// Replaces the file's contents, and returns the times of events for which there was no room.
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
    /// Keeps these events of a batch for later. Call it before the batch is settled: a process that is killed in between
    /// sends the events again and gets the same answer.
    func holdBack(_ events: [Batch.Event], of batch: Batch) throws {
        guard !events.isEmpty else { return }
        try exclusively { memory in
            let held = HeldBack(directory: directory)
            let lines = events.map { event in
                HeldBack.Line(
                    at: now, time: event.time, source: String(decoding: batch.sources[event.source], as: UTF8.self),
                    event: String(decoding: event.json, as: UTF8.self))
            }
            let (known, unreadable) = try held.contents
            for time in try held.replace(with: known + lines) {
                memory.unrecorded.add(1, since: time, reason: .size)
            }
            count(unreadable, &memory)
        }
    }

    /// Counts lines that could not be read, once the file is without them.
    private func count(_ unreadable: Int64, _ memory: inout Memory) {
        guard unreadable > 0 else { return }
        memory.unrecorded.add(unreadable, since: nil, reason: .unreadable)
        tell(unreadable, .unreadable)
    }

    /// Moves events that waited long enough to the end of the queue. Events older than the queue's age limit are counted
    /// as dropped. If the clock was set back, the wait ends.
    func takeUpHeldBack() throws {
        guard directory.hasHeldBack else { return }
        try exclusively { memory in
            let held = HeldBack(directory: directory)
            let (lines, unreadable) = try held.contents
            let due = lines.filter { $0.at > now || now - $0.at >= HeldBack.rest }
            guard !due.isEmpty || unreadable > 0 || lines.isEmpty else { return }
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
            count(unreadable, &memory)
            if lines.count == due.count { directory.removeHeldBack() }
        }
    }
}
