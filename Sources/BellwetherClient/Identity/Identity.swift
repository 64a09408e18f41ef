internal import Foundation

/// The random name of this installation of the app, the same for all processes that share the directory.
struct Identity: Sendable {
    let installID: UUID

    /// Reads it, or makes it: of several processes that begin at once, one does.
    init(_ queue: Queue) throws {
        let directory = queue.directory
        if let known = try Identity.read(directory) {
            installID = known
            return
        }
        self = try queue.exclusively { _ in try Identity(holding: directory) }
    }

    /// The same, for whoever holds the queue.
    init(holding directory: QueueDirectory) throws(QueueError) {
        if let known = try Identity.read(directory) {
            installID = known
        } else {
            // What is there, if anything, is no identity: damaged, or somebody else's.
            installID = try Identity.make(directory)
        }
    }

    /// A new one, whatever there was, for whoever holds the queue.
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
