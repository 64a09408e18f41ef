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
