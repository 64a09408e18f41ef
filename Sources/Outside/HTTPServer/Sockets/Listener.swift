internal import CServerSockets
internal import Glibc

/// The sockets that clients connect to.
@safe final class Listener: Sendable {
    /// Where it actually listens: with the port that the system chose.
    let address: HTTPServerConfiguration.Address
    let descriptors: [Int32]
    /// The inode of a Unix socket. It tells our socket from one that a later server put there.
    private let inode: UInt64?

    /// Listens at once, but accepts no client yet.
    init(_ address: HTTPServerConfiguration.Address, unixSocketMode: UInt32) throws(HTTPServerError) {
        switch address {
        case .tcp(let host, let port):
            (descriptors, self.address) = try Listener.listen(host: host, port: port)
            inode = nil
        case .unix(let path):
            let socket = UnixSocketPath(path)
            descriptors = [try socket.listen(mode: unixSocketMode)]
            inode = socket.inode
            self.address = address
        }
    }

    /// Takes sockets that another process opened, and that are its own to put away.
    init(_ address: HTTPServerConfiguration.Address, inherited descriptors: [Int32]) {
        (self.address, self.descriptors, inode) = (address, descriptors, nil)
    }

    /// Turns new clients away. Call it once.
    func close() {
        if case .unix(let path) = address, let inode, UnixSocketPath(path).inode == inode { unsafe unlink(path) }
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    enum Accepted {
        case connection(Int32, peer: String)
        case nobody
        /// The process or the machine has no descriptor or memory left.
        case exhausted
    }

    /// The next client, if one is waiting.
    func accept(on descriptor: Int32) -> Accepted {
        while true {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let client = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    unsafe accept4(
                        descriptor, pointer, &length, Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue))
                }
            }
            if client >= 0 { return .connection(client, peer: SocketAddress(address, length: length).host ?? "unix") }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // This client gave up, or a signal came. The next one may work.
            case ECONNABORTED, EINTR, EPROTO, EPERM, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH: continue
            default: return .nobody
            }
        }
    }

    private static func listen(
        host: String, port: UInt16
    ) throws(HTTPServerError) -> ([Int32], HTTPServerConfiguration.Address) {
        let name = HTTPServerConfiguration.Address.tcp(host: host, port: port).description
        var descriptors: [Int32] = []
        var bound = port
        var failure: SystemError?
        for candidate in try SocketAddress.resolve(host: host, port: port, name: name) {
            // All addresses of a name use the port that the first one got.
            let address = candidate.with(port: bound)
            do {
                let descriptor = try address.listen(alsoIPv4: host == "::")
                if bound == 0 { bound = SocketAddress(ofSocket: descriptor).port ?? 0 }
                descriptors.append(descriptor)
            } catch {
                failure = failure ?? error
                // `/etc/hosts` gives `localhost` an IPv6 address even if the machine has none.
                if [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.code) { continue }
                failure = error
                for descriptor in descriptors { Glibc.close(descriptor) }
                descriptors = []
                break
            }
        }
        guard !descriptors.isEmpty else { throw Listener.error(failure, name: name) }
        return (descriptors, .tcp(host: host, port: bound))
    }

    static func error(_ failure: SystemError?, name: String) -> HTTPServerError {
        guard let failure else { return .addressUnknown(address: name, reason: "the name has no address") }
        return switch failure.code {
        case EADDRINUSE: .addressInUse(address: name)
        case EACCES, EPERM: .addressNotAllowed(address: name)
        case EADDRNOTAVAIL, EAFNOSUPPORT: .addressUnknown(address: name, reason: failure.description)
        default: .cannotListen(address: name, reason: failure.description)
        }
    }
}
