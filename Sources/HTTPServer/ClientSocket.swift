internal import Glibc

/// What reading from a client, or writing to one, came to.
enum Transfer: Equatable {
    case bytes(Int)
    /// Nothing now: the poller will say when.
    case notNow
    /// The client sends no more.
    case ended
    /// The connection is broken.
    case failed
}

/// The way to one client, plain or through TLS. Of one thread; closed with this.
final class ClientSocket {
    let descriptor: Int32
    private let tls: TLSSession?

    /// Takes the descriptor over.
    init(_ descriptor: Int32, tls: TLSSession?) {
        self.descriptor = descriptor
        self.tls = tls
    }

    deinit { close(descriptor) }

    var isEncrypted: Bool { tls != nil }

    /// Goes on with the handshake; `.bytes` when there is nothing left of it.
    func shakeHands() -> Transfer { tls?.accept() ?? .bytes(0) }

    func read(into buffer: inout [UInt8]) -> Transfer {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            if let tls { return unsafe tls.read(into: buffer) }
            return unsafe ClientSocket.result(recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
    }

    func write(_ bytes: ArraySlice<UInt8>) -> Transfer {
        unsafe bytes.withUnsafeBytes { bytes in
            if let tls { return unsafe tls.write(bytes) }
            return unsafe ClientSocket.result(
                send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
        }
    }

    /// Says that no more will come.
    func finishSending() {
        tls?.close()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Drops what has come, as it is on the wire.
    func drop(into buffer: inout [UInt8]) -> Transfer {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe ClientSocket.result(recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
    }

    private static func result(_ count: Int) -> Transfer {
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        return [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .notNow : .failed
    }
}
