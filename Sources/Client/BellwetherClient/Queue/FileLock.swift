internal import Foundation

/// The right to use the queue. One process at a time has it, for as long as this object lives.
///
/// iOS kills an app that is suspended while it holds a lock in a directory shared with an extension. So hold it only
/// for moments, never during network requests or waits.
final class FileLock {
    // Closing the file releases the lock. The end of the process does so too, however it ends.
    private let file: OpenFile

    /// - Parameter end: until when to wait for others, as the system's uptime. At least one attempt is made.
    init(_ path: String, until end: TimeInterval) throws(QueueError) {
        var pause: UInt32 = 100
        repeat {
            let file = try FileLock.open(path)
            if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Someone may have removed the file between opening and locking. Then no other process would wait for
                // our lock.
                if let facts = FileFacts(path: path), try facts.inode == file.facts().inode {
                    self.file = file
                    return
                }
            } else if errno != EWOULDBLOCK, errno != EINTR {
                throw .system(call: "locking", path: path, code: errno)
            }
            // Poll instead of blocking, so that a process stopped while it holds the lock does not block others.
            usleep(pause)
            pause = min(pause * 2, 5000)
        } while ProcessInfo.processInfo.systemUptime < end
        throw .busy
    }

    private static func open(_ path: String) throws(QueueError) -> OpenFile {
        do {
            return try OpenFile(path, O_RDWR | O_CREAT)
        } catch {
            // If the directory is read-only, the events in it can still be read and delivered.
            if let readable = try? OpenFile(path, O_RDONLY) { return readable }
            throw error
        }
    }
}
