internal import CMicroHTTPD
internal import Glibc
internal import ServiceRuntime

/// A client's connection and the request that is on it.
///
/// Three kinds of threads meet here, under one lock: the I/O thread of libmicrohttpd, which drives the request
/// (`Connection+Request`), the handler's threads, which answer it (`Connection+Answer`), and the attendant, which sees
/// to the deadlines (`Connection+Deadlines`).
@safe final class Connection: Sendable {
    let server: ServerContext
    let descriptor: Int32
    let peer: String
    let state: Lock<State>

    init(server: ServerContext, descriptor: Int32, peer: String) {
        self.server = server
        self.descriptor = descriptor
        self.peer = peer
        state = Lock(State(due: .after(seconds: server.configuration.idleTimeout)))
    }

    /// Where the request on this connection stands.
    enum Phase: Sendable {
        /// None is here.
        case idle
        /// Its request line has come.
        case headArriving
        /// The handler has been asked and has not decided.
        case deciding
        /// As `deciding`, after the handler's call returned: libmicrohttpd has suspended the connection.
        case parked
        /// The handler wants the body.
        case reading(limit: Int, then: @Sendable ([UInt8]) -> Void)
        /// Its answer is known. It can only be sent when the body has ended: what still comes is dropped.
        case answered(Response)
        /// libmicrohttpd has the answer.
        case sending
        /// The last word has been said around libmicrohttpd, or nothing can be said: what still comes is dropped.
        case cut
    }

    @safe struct State: @unchecked Sendable {
        // SAFETY: lives in `Connection.state` only; libmicrohttpd's handle is valid from its notice of the start of the
        // connection to that of its end, and `started` and `closed` set and clear it there under the lock.
        var handle: OpaquePointer?
        /// The descriptor is ours to touch: from `started` to `closed`. Before, libmicrohttpd may close it unsaid.
        var isOpen = false
        var phase = Phase.idle
        /// When the attendant must act on `phase`.
        var due: Deadline
        /// When the request must have been read.
        var requestDue = Deadline.never
        /// Which request of this connection it is.
        var request: UInt64 = 0
        /// The request counts as in flight.
        var isInFlight = false
        var target = ""
        var isHeadRequest = false
        var hasBody = false
        var expectsContinue = false
        /// libmicrohttpd has gone on from the head to the body.
        var isPastHead = false
        /// The body has been handed to the handler.
        var isBodyRead = false
        var body: [UInt8] = []
        /// Bytes of the body that were dropped.
        var dropped = 0
        /// Close with care: the client may still be sending.
        var lingers = false

        init(due: Deadline) {
            self.due = due
        }
    }
}

extension Connection {
    func started(handle: OpaquePointer) {
        state.withLock { state in
            unsafe state.handle = handle
            state.isOpen = true
        }
    }

    /// The last moment at which the descriptor is this connection's.
    func closed() {
        let past = state.withLock { state in
            if state.isOpen, state.lingers { server.lingering.add(duplicateOf: descriptor) }
            state.isOpen = false
            unsafe state.handle = nil
            state.due = .never
            defer { state.phase = .cut }
            return state.phase
        }
        // What the handler's closure holds may go here, outside the lock.
        _ = past
        server.connections.remove(self)
    }
}
