internal import Glibc
internal import ServiceRuntime

/// Sockets on which we have said our last word while the client may still be sending.
///
/// Closing a socket that has unread data resets it, and the reset takes the answer away from a client that has not read
/// it yet. So these are read and dropped until the client closes too, for a short while.
final class LingeringSockets: Sendable {
    private struct Entry {
        let descriptor: Int32
        let until: Deadline
        var bytesLeft: Int
    }

    private let entries = Lock([Entry]())
    private let doorbell: Doorbell
    private let time: Double
    private let bytesEach: Int

    /// More than so many at once are closed the hard way.
    private static let limit = 1024

    init(doorbell: Doorbell, time: Double, bytesEach: Int) {
        self.doorbell = doorbell
        self.time = time
        self.bytesEach = bytesEach
    }

    deinit {
        for entry in entries.withLock({ $0 }) { close(entry.descriptor) }
    }

    var descriptors: [Int32] { entries.withLock { $0.map(\.descriptor) } }

    /// For a socket that somebody else is about to close.
    func add(duplicateOf descriptor: Int32) {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if duplicate >= 0 { add(duplicate) }
    }

    /// Takes the socket over.
    func add(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_WR))
        let entry = Entry(descriptor: descriptor, until: .after(seconds: time), bytesLeft: bytesEach)
        let taken = entries.withLock { entries in
            guard entries.count < LingeringSockets.limit else { return false }
            entries.append(entry)
            return true
        }
        if taken { doorbell.ring() } else { close(descriptor) }
    }

    /// Drops what came, and closes what is done. Called by one thread.
    func attend() {
        entries.withLock { entries in
            for index in entries.indices.reversed() where !LingeringSockets.drain(&entries[index]) {
                close(entries[index].descriptor)
                entries.swapAt(index, entries.endIndex - 1)
                entries.removeLast()
            }
        }
    }

    /// False when it need not be waited for any longer.
    private static func drain(_ entry: inout Entry) -> Bool {
        guard !entry.until.hasPassed else { return false }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            // A client that sends faster than this is kept for the next round.
            for _ in 0..<16 {
                let count = unsafe recv(
                    entry.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
                entry.bytesLeft -= count
                guard entry.bytesLeft > 0 else { return false }
            }
            return true
        }
    }
}
