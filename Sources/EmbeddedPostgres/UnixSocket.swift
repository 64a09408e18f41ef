internal import Glibc

/// The local socket that clients of a server connect to.
struct UnixSocket: Equatable, Sendable {
    let directory: String
    let port: Int

    var path: String { "\(directory)/.s.PGSQL.\(port)" }

    /// Whether somebody listens. Not what: the server may still be starting.
    var answers: Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // A full queue must not make us wait: it is an answer, too.
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

    /// Where the socket of a cluster belongs: beside its data, or, since the kernel takes 107 bytes and libpq splits
    /// at commas, in a short directory whose name every process derives alike.
    static func home(of directory: ClusterDirectory) -> String {
        let beside = directory.base + "/socket"
        if beside.utf8.count <= 100 - "/.s.PGSQL.5432".utf8.count && !beside.contains(",") { return beside }
        // A session's runtime directory is nobody else's to enter; root's server runs as another user.
        let parent = directory.account.isCurrent ? Environment.value("XDG_RUNTIME_DIR") ?? "/tmp" : "/tmp"
        let short = parent.hasPrefix("/") && parent.utf8.count < 40 && !parent.contains(",") ? parent : "/tmp"
        return "\(short)/pg-\(directory.account.user)-\(String(fingerprint(directory.path), radix: 16))"
    }

    /// FNV-1a, 64 bits: no secret, only short and the same everywhere.
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
