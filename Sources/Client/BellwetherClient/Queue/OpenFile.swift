internal import Foundation

/// A file that is open for as long as this lives.
final class OpenFile {
    let path: String
    let descriptor: Int32

    init(_ path: String, _ flags: Int32) throws(QueueError) {
        self.path = path
        var descriptor: Int32
        repeat {
            descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw .system(call: "opening", path: path, code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func facts() throws(QueueError) -> FileFacts {
        guard let facts = FileFacts(descriptor) else { throw .system(call: "looking", path: path, code: errno) }
        return facts
    }

    /// All bytes of the file, up to `limit`.
    func read(limit: Int) throws(QueueError) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 64 << 10))
        while all.count < limit {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(call: "reading", path: path, code: errno)
            }
            all += chunk[..<count]
        }
        return all
    }

    /// Writes all bytes at the file's current position.
    func write(_ bytes: [UInt8]) throws(QueueError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return unsafe Foundation.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(call: "writing", path: path, code: errno)
            }
            // Nothing was written, and there is no error: treat it like a full disk.
            if count == 0 { throw .system(call: "writing", path: path, code: ENOSPC) }
            done += count
        }
    }

    /// Returns when the written data is on the disk, or is certain to reach it before any later data.
    func sync(_ system: FileSystem = .system) throws(QueueError) {
        if system.barrier(descriptor) { return }
        while fsync(descriptor) != 0 {
            // Some file systems cannot sync a directory, and need not.
            if errno == EINVAL { return }
            guard errno == EINTR else { throw .system(call: "syncing", path: path, code: errno) }
        }
    }
}

/// What the system reports about a file.
struct FileFacts: Hashable {
    let inode: UInt64
    let size: Int
    let changed: Double
    let isDirectory: Bool

    init?(_ descriptor: Int32) {
        var entry = stat()
        guard unsafe fstat(descriptor, &entry) == 0 else { return nil }
        self.init(entry)
    }

    init?(path: String) {
        var entry = stat()
        // For a broken link, the facts of the link itself.
        if unsafe stat(path, &entry) != 0 {
            guard errno == ELOOP, unsafe lstat(path, &entry) == 0 else { return nil }
        }
        self.init(entry)
    }

    private init(_ entry: stat) {
        inode = UInt64(entry.st_ino)
        size = Int(entry.st_size)
        #if canImport(Darwin)
        let time = entry.st_mtimespec
        #else
        let time = entry.st_mtim
        #endif
        changed = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        isDirectory = entry.st_mode & S_IFMT == S_IFDIR
    }
}

/// File operations that only some systems have.
struct FileSystem: Sendable {
    /// Makes sure that data written into a file reaches the disk before any later data; false if that is impossible.
    var barrier: @Sendable (_ descriptor: Int32) -> Bool = { _ in false }
    /// Sets the attributes that the queue's directory needs on a phone.
    var mark: @Sendable (_ directory: String) -> Void = { _ in }

    #if !canImport(UserNotifications)
    static let system = FileSystem()
    #endif
}
