internal import Foundation

/// The random id of this install. All processes that share the directory share it.
struct Identity: Sendable {
    let installID: UUID

    /// Reads the id, or creates it. If several processes start at once, only one creates it.
    init(_ queue: Queue) throws {
        let directory = queue.directory
        if let known = try Identity.read(directory) {
            installID = known
            return
        }
        self = try queue.exclusively { _ in try Identity(holding: directory) }
    }

    /// Does the same for a caller that already holds the queue.
    init(holding directory: QueueDirectory) throws(QueueError) {
        if let known = try Identity.read(directory) {
            installID = known
        } else {
            // The file, if there is one, contains no valid id: it is damaged, or not ours.
            installID = try Identity.make(directory)
        }
    }

    /// Reads the id; nil if there is none.
    init?(reading directory: QueueDirectory) throws(QueueError) {
        guard let known = try Identity.read(directory) else { return nil }
        installID = known
    }

    /// Creates a new id, whatever there was. The caller must hold the queue.
    init(replacing directory: QueueDirectory) throws(QueueError) { installID = try Identity.make(directory) }

    private static func make(_ directory: QueueDirectory) throws(QueueError) -> UUID {
        let made = UUID()
        try directory.replace(directory.install, with: Array("\(made.uuidString.lowercased())\n".utf8))
        return made
    }

    private static func read(_ directory: QueueDirectory) throws(QueueError) -> UUID? {
        guard let bytes = try directory.contents(directory.install, limit: 1024) else { return nil }
        return UUID(uuidString: String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
