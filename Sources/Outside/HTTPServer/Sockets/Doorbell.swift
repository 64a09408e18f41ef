internal import Glibc

/// Wakes a thread that waits in poll(2).
final class Doorbell: Sendable {
    /// Readable after a ring.
    let descriptor: Int32
    private let button: Int32

    init() throws(HTTPServerError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw .cannotStart(reason: SystemError.last.description)
        }
        (descriptor, button) = (pair[0], pair[1])
    }

    deinit {
        close(descriptor)
        close(button)
    }

    /// If the pipe is full, the bell already rings.
    func ring() {
        var one: UInt8 = 1
        _ = unsafe write(button, &one, 1)
    }

    func clear() {
        var rings = [UInt8](repeating: 0, count: 256)
        while unsafe read(descriptor, &rings, rings.count) > 0 {}
    }
}
