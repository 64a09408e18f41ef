internal import Foundation

/// The right to touch the queue, which one process at a time has, until this is gone.
///
/// iOS kills an app that it suspends while it holds a lock in a directory shared with an extension: hold it for
/// moments, never across the network or a wait.
final class FileLock {
    // Closing the file gives the lock back, and so does the end of the process, however it ends.
    private let file: OpenFile

    /// - Parameter end: until when to wait for others, as the system's uptime. It is tried once in any case.
    init(_ path: String, until end: TimeInterval) throws(QueueError) {
        var pause: UInt32 = 100
        while true {
            let file = try FileLock.open(path)
            if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Somebody may have taken the file away between opening and locking: then nobody else would wait for us.
                if let facts = FileFacts(path: path), try facts.inode == file.facts().inode {
                    self.file = file
                    return
                }
            } else if errno != EWOULDBLOCK, errno != EINTR {
                throw .system(call: "locking", path: path, code: errno)
            }
            // Asked for again instead of waited for, so that a process stopped in the middle stops nobody else.
            guard ProcessInfo.processInfo.systemUptime < end else { throw .busy }
            usleep(pause)
            pause = min(pause * 2, 5000)
        }
    }

    private static func open(_ path: String) throws(QueueError) -> OpenFile {
        do {
            return try OpenFile(path, O_RDWR | O_CREAT)
        } catch {
            // Where nothing may be written, what is there may still be read and delivered.
            if let readable = try? OpenFile(path, O_RDONLY) { return readable }
            throw error
        }
    }
}
