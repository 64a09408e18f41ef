internal import CServerSockets
internal import Glibc

/// epoll(7): reports which sockets have changed.
///
/// It is edge-triggered: a socket is registered once, and costs nothing more. After a report, the caller must continue
/// until the socket has no more, or remember that there may be more.
@safe final class Poller {
    // SAFETY: the kernel writes the records within `wait`, and they carry a number of ours, not a pointer.
    /// What has changed on a socket.
    struct Change {
        /// The tag that the socket was registered with.
        let tag: UInt64
        fileprivate let bits: UInt32

        var mayRead: Bool { bits & (Poller.readable | Poller.peerEnded | Poller.gone) != 0 }
        var mayWrite: Bool { bits & (Poller.writable | Poller.gone) != 0 }
        /// The other side will send no more.
        var peerHasEnded: Bool { bits & (Poller.peerEnded | Poller.gone) != 0 }
        /// Both directions are closed: nothing that we send would arrive.
        var isGone: Bool { bits & Poller.gone != 0 }
    }

    fileprivate static let readable: UInt32 = 0x001
    fileprivate static let writable: UInt32 = 0x004
    fileprivate static let gone: UInt32 = 0x008 | 0x010
    fileprivate static let peerEnded: UInt32 = 0x2000
    private static let edges: UInt32 = 1 << 31

    private let descriptor: Int32
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: 256)

    init() throws(HTTPServerError) {
        descriptor = epoll_create1(Int32(bitPattern: 0x80000))
        guard descriptor >= 0 else { throw .cannotStart(reason: SystemError.last.description) }
    }

    deinit { close(descriptor) }

    /// Watches a socket until it is closed.
    func add(_ socket: Int32, tag: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, socket, Poller.readable | Poller.writable | Poller.peerEnded | Poller.edges, tag)
    }

    /// Whether to report changes of a socket that it watches. What has changed meanwhile is reported when it listens
    /// again.
    func listen(_ listens: Bool, to socket: Int32, tag: UInt64) {
        let changes = listens ? Poller.readable | Poller.writable | Poller.peerEnded : 0
        _ = control(EPOLL_CTL_MOD, socket, changes | Poller.edges, tag)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ changes: UInt32, _ tag: UInt64) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = changes
        unsafe event.data.u64 = tag
        return unsafe epoll_ctl(descriptor, operation, socket, &event) == 0
    }

    func remove(_ socket: Int32) {
        var event = unsafe epoll_event()
        _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
    }

    /// The changed sockets. It waits for at most this time.
    func wait(atMost milliseconds: Int32) -> [Change] {
        let count = unsafe epoll_wait(descriptor, &events, Int32(events.count), milliseconds)
        guard count > 0 else { return [] }
        return unsafe events[..<Int(count)].map { event in unsafe Change(tag: event.data.u64, bits: event.events) }
    }
}
