internal import CServerSockets
internal import Glibc

/// An address of the socket interface, IPv4 or IPv6.
struct SocketAddress: @unchecked Sendable {
    // SAFETY: plain bytes; unchecked only because the C structure is not marked.
    private var storage: sockaddr_storage
    private var length: socklen_t

    init(_ storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

    /// Where a socket is bound.
    init(ofSocket descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getsockname(descriptor, pointer, &length)
            }
        }
        self.init(storage, length: length)
    }

    /// Every address of a host, in the resolver's order.
    static func resolve(host: String, port: UInt16, name: String) throws(HTTPServerError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw .addressUnknown(address: name, reason: unsafe String(cString: gai_strerror(status)))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            let length = unsafe min(Int(entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
            var storage = sockaddr_storage()
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: length))
            }
            addresses.append(SocketAddress(storage, length: socklen_t(length)))
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }

    /// A socket that listens here.
    func listen(alsoIPv4: Bool) throws(SystemError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(Int32(storage.ss_family), type, 0)
        guard descriptor >= 0 else { throw .last }
        // Otherwise connections of a server that just stopped would keep the port from its successor.
        SocketAddress.set(SO_REUSEADDR, SOL_SOCKET, on: descriptor, to: true)
        if storage.ss_family == sa_family_t(AF_INET6) {
            SocketAddress.set(IPV6_V6ONLY, Int32(IPPROTO_IPV6), on: descriptor, to: !alsoIPv4)
        }
        SocketAddress.limitBuffers(of: descriptor)
        guard bind(descriptor) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            let failure = SystemError.last
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    func bind(_ descriptor: Int32) -> Int32 {
        unsafe withPointer { pointer, length in unsafe Glibc.bind(descriptor, pointer, length) }
    }

    func connect(_ descriptor: Int32) -> Int32 {
        unsafe withPointer { pointer, length in unsafe Glibc.connect(descriptor, pointer, length) }
    }

    private func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Limits the kernel's buffers for clients that we do not read, or that do not read us; otherwise they take up to
    /// several megabytes each. Clients inherit the limit from the listening socket.
    static func limitBuffers(of descriptor: Int32) {
        var (receive, send): (Int32, Int32) = (64 << 10, 16 << 10)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive, socklen_t(MemoryLayout<Int32>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func set(_ option: Int32, _ level: Int32, on descriptor: Int32, to value: Bool) {
        var value: Int32 = value ? 1 : 0
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension SocketAddress {
    /// The address of a path in the file system; nil if the path is too long.
    init?(path: String) {
        guard path.utf8.count <= SocketAddress.pathLimit else { return nil }
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(AF_UNIX)
        let offset = SocketAddress.addressOffset
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            for (index, byte) in path.utf8.enumerated() { unsafe bytes[offset + index] = byte }
        }
        self.init(storage, length: socklen_t(offset + path.utf8.count + 1))
    }

    /// The offset of a Unix socket's path, and of the port of other addresses: both follow the family.
    private static let addressOffset = MemoryLayout<sa_family_t>.size

    /// Leaves one byte for the NUL.
    static let pathLimit = MemoryLayout<sockaddr_un>.size - addressOffset - 1

    var port: UInt16? {
        switch Int32(storage.ss_family) {
        case AF_INET: UInt16(bigEndian: field(\sockaddr_in.sin_port))
        case AF_INET6: UInt16(bigEndian: field(\sockaddr_in6.sin6_port))
        default: nil
        }
    }

    func with(port: UInt16) -> SocketAddress {
        var copy = self
        unsafe withUnsafeMutableBytes(of: &copy.storage) { bytes in
            unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: SocketAddress.addressOffset, as: UInt16.self)
        }
        return copy
    }

    /// The host as digits (an IPv4 client of an IPv6 socket as IPv4); nil for a Unix socket.
    var host: String? {
        var text = [CChar](repeating: 0, count: 64)
        let found =
            switch Int32(storage.ss_family) {
            case AF_INET:
                unsafe withUnsafePointer(to: field(\sockaddr_in.sin_addr)) { address in
                    unsafe inet_ntop(AF_INET, address, &text, socklen_t(text.count)) != nil
                }
            case AF_INET6:
                unsafe withUnsafePointer(to: field(\sockaddr_in6.sin6_addr)) { address in
                    unsafe inet_ntop(AF_INET6, address, &text, socklen_t(text.count)) != nil
                }
            default: false
            }
        guard found else { return nil }
        let host = String(cText: text)
        return host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst(7)) : host
    }

    private func field<Structure, Value>(_ path: KeyPath<Structure, Value>) -> Value {
        // SAFETY: the storage is as large and as aligned as any socket address, and the callers checked the family.
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: Structure.self, capacity: 1) { unsafe $0.pointee[keyPath: path] }
        }
    }
}
