internal import Foundation

/// An event on its way into the queue.
struct Entry: Sendable {
    /// When it was recorded, in milliseconds since 1970.
    let time: Int64
    /// Returns the JSON object that describes the install, as in an envelope. Called with the queue held: it creates
    /// the install's id if there is none, and records nothing.
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
