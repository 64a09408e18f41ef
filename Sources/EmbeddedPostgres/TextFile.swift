internal import Glibc

/// Small files, read whole.
enum TextFile {
    /// nil when there is no such file, it is a link or it cannot be read; `limit` bytes at most.
    static func read(_ path: String, limit: Int = 65_536) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while content.count < limit {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            content += chunk[..<count]
        }
        return String(decoding: content.prefix(limit), as: UTF8.self)
    }
}
