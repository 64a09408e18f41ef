internal import Foundation

/// Events that had to be thrown away, as the server is told (CONTRACT: `dropped`).
struct Drop: Codable, Hashable, Sendable {
    enum Reason: String, Codable, CaseIterable, Sendable {
        /// They waited for longer than the queue keeps.
        case age
        /// There was no room.
        case size
        /// They were damaged on disk, or of a version that this one does not know.
        case unreadable
    }

    let id: UUID
    var count: Int64
    /// When the first of them was recorded, in milliseconds since 1970.
    var since: Int64?
    let reason: Reason
    /// Whether it was told already: then it never changes again, because the server knows it by its id.
    var isTold = false

    /// As it stands in an envelope.
    var json: String {
        let since = since.map { #","since":"\#(Moment(milliseconds: $0))""# } ?? ""
        return #"{"id":"\#(id.uuidString.lowercased())","count":\#(count)\#(since),"reason":"\#(reason.rawValue)"}"#
    }
}

/// What was dropped and not yet acknowledged: at most two entries a reason, one told and one that still grows.
struct Drops: Codable, Hashable, Sendable {
    private(set) var entries: [Drop] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ count: Int64, since: Int64?, reason: Drop.Reason) {
        guard count > 0 else { return }
        guard let index = entries.firstIndex(where: { $0.reason == reason && !$0.isTold }) else {
            entries.append(Drop(id: UUID(), count: count, since: since, reason: reason))
            return
        }
        entries[index].count += count
        entries[index].since = [entries[index].since, since].compactMap(\.self).min()
    }

    /// What to tell the server: what was told before, until it is acknowledged, and only then what came since.
    mutating func tell() -> [Drop] {
        if !entries.contains(where: \.isTold) {
            for index in entries.indices { entries[index].isTold = true }
        }
        return entries.filter(\.isTold)
    }

    mutating func remove(_ ids: Set<UUID>) { entries.removeAll { ids.contains($0.id) } }
}
