internal import CServerSockets
internal import Glibc

/// A path of a Unix socket, which may not exist yet.
struct UnixSocketPath {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The inode of what is at the path now.
    var inode: UInt64? { status.map { UInt64($0.st_ino) } }

    private var status: stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// Listens there. It replaces the socket of a killed server, but not one that answers.
    func listen(mode: UInt32) throws(HTTPServerError) -> Int32 {
        guard let address = SocketAddress(path: path) else {
            throw .pathTooLong(path: path, limit: SocketAddress.pathLimit)
        }
        if let status {
            guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
            guard isStale(address) else { throw .addressInUse(address: path) }
            unsafe unlink(path)
        }
        let descriptor = try UnixSocketPath.makeSocket(name: path)
        // Nobody can connect before listen(2), so the permissions are right for the first client.
        guard address.bind(descriptor) == 0, unsafe chmod(path, mode) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let failure = SystemError.last
            close(descriptor)
            throw Listener.error(failure, name: path)
        }
        return descriptor
    }

    private func isStale(_ address: SocketAddress) -> Bool {
        guard let probe = try? UnixSocketPath.makeSocket(name: path) else { return false }
        defer { close(probe) }
        return address.connect(probe) != 0 && errno == ECONNREFUSED
    }

    private static func makeSocket(name: String) throws(HTTPServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw Listener.error(.last, name: name) }
        return descriptor
    }
}
