internal import Glibc

/// The local socket that clients of a server connect to.
struct UnixSocket: Equatable, Sendable {
    let directory: String
    let port: Int

    var path: String { "\(directory)/.s.PGSQL.\(port)" }

    /// Whether a server listens. It may still be starting.
    var answers: Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // A full queue must not make us wait: it also shows that a server listens.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let status = unsafe withUnsafePointer(to: &address) { address in
            // SAFETY: every socket address starts with the fields of sockaddr.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 || errno == EAGAIN
    }

    /// The directory for a database's socket: next to its data. If that path is longer than the kernel's 107 bytes, or
    /// contains a comma, where libpq splits, it is a short directory whose name every process computes in the same way.
    static func home(of directory: ServerDirectory) -> String {
        let beside = directory.base + "/socket"
        if beside.utf8.count <= 100 - "/.s.PGSQL.5432".utf8.count && !beside.contains(",") { return beside }
        // Other users cannot enter a session's runtime directory, but root's server runs as another user.
        let parent = directory.account.isCurrent ? Environment.value("XDG_RUNTIME_DIR") ?? "/tmp" : "/tmp"
        let short = parent.hasPrefix("/") && parent.utf8.count < 40 && !parent.contains(",") ? parent : "/tmp"
        return "\(short)/pg-\(directory.account.user)-\(String(fingerprint(directory.path), radix: 16))"
    }

    /// FNV-1a, 64 bits: not secret, only short and the same everywhere.
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
