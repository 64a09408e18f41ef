internal import Glibc

/// The result of reading from a client or writing to it.
enum Transfer: Equatable {
    case bytes(Int)
    /// Not possible now: the poller will report when it is.
    case notNow
    /// The client sends no more.
    case ended
    /// The connection is broken.
    case failed
}

/// The connection to one client, with or without TLS. Used by one thread; closed with this object.
final class ClientSocket {
    let descriptor: Int32
    private let tls: TLSSession?

    /// Takes ownership of the descriptor.
    init(_ descriptor: Int32, tls: TLSSession?) {
        self.descriptor = descriptor
        self.tls = tls
    }

    deinit { close(descriptor) }

    var isEncrypted: Bool { tls != nil }

    /// Continues the handshake; returns `.bytes` when it is complete.
    func shakeHands() -> Transfer { tls?.accept() ?? .bytes(0) }

    func read(into buffer: inout [UInt8], atMost most: Int) -> Transfer {
        unsafe buffer.withUnsafeMutableBytes { whole in
            let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: whole.prefix(most))
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

    /// Tells the client that no more data will come.
    func finishSending() {
        tls?.close()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Drops received bytes without decoding them.
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
