internal import Foundation

/// The events that the server refused even alone, kept for the developer: the file `set-aside`, one event per line.
struct SetAside: Sendable {
    /// If the file would be larger, the oldest lines are removed.
    static let limit = 256 << 10

    let directory: QueueDirectory

    /// Adds an event. With the queue held.
    func add(_ event: ArraySlice<UInt8>, status: Int, at now: Int64) throws {
        let text = String(decoding: event, as: UTF8.self)
        let line = try JSONEncoder().encode(Line(at: "\(Moment(milliseconds: now))", status: status, event: text))
        var lines = (try directory.contents(directory.setAside, limit: SetAside.limit * 2) ?? []).split(separator: 10)
        lines.append(Array(line)[...])
        var size = lines.reduce(0) { $0 + $1.count + 1 }
        while size > SetAside.limit, lines.count > 1 { size -= lines.removeFirst().count + 1 }
        try directory.replace(directory.setAside, with: lines.flatMap { $0 + [10] })
    }

    /// The number of events.
    var count: Int {
        let bytes = (try? directory.contents(directory.setAside, limit: SetAside.limit * 2)) ?? nil
        return bytes?.split(separator: 10).count ?? 0
    }

    private struct Line: Codable {
        let at: String
        let status: Int
        /// A string, because it may be invalid JSON, and that may be why it is here.
        let event: String
    }
}

extension Queue {
    /// Settles a batch of one refused event and sets the event aside.
    ///
    /// - Returns: whether the event was kept. If not, it is counted as dropped, and is not sent again either. Nil if it no
    ///   longer waits: then it is nobody's any more.
    @discardableResult
    func setAside(_ batch: Batch, status: Int) throws -> Bool? {
        try exclusively { memory in
            var state = try load(&memory)
            guard !directory.isDropping, batch.last > state.settled else { return nil }
            var isKept = true
            for event in batch.events {
                do {
                    try SetAside(directory: directory).add(event.json, status: status, at: now)
                } catch {
                    isKept = false
                    let reason = (error as? QueueError)?.reason ?? .unreadable
                    state.drops.add(1, since: event.time, reason: reason)
                    memory.unrecorded.add(1, since: event.time, reason: reason)
                }
            }
            // The server has not acknowledged its drops.
            try finish(batch, &state, &memory)
            return isKept
        }
    }
}
