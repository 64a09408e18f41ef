internal import ServiceRuntime
internal import Synchronization

/// A client's connection and its current request.
///
/// Only the I/O thread works on it, in steps that never wait: the head (`Connection+Head`), the body
/// (`Connection+Body`), the answer (`Connection+Answer`), and the deadlines (`Connection+Deadlines`). Other threads
/// only keep a reference, to say which connection they mean.
final class Connection: @unchecked Sendable {
    // SAFETY: `server` and `peer` do not change. Only the I/O thread touches the rest; other threads send it commands
    // through `Mailbox`.
    let server: ServerContext
    /// The client's address without port; `unix` for a client on a Unix socket.
    let peer: String
    private(set) var socket: ClientSocket?
    var phase: Phase
    /// When `expire` must act on `phase`.
    var due: Deadline
    /// Since when we have been waiting for the client to send a request or a body, or to take its answer.
    var idleSince = Deadline.now

    /// The socket may have something to read, or room to write. The poller reports only changes.
    var mayRead = true
    var mayWrite = true
    /// The client sends no more. What it sent is still read, and answered if it is complete.
    var peerHasEnded = false { didSet { if peerHasEnded { exchange?.leave() } } }
    /// Whether it waits for its turn in this round of the I/O thread.
    var isQueued = false
    /// Whether the poller reports its changes.
    var isListenedTo = true
    /// Whether the handler has asked for the body of the current request, as it does only for a valid key.
    var isTrusted = false
    /// Whether it has asked for that of any request.
    var hasShownKey = false
    /// How many requests in a row were answered without it.
    var answersWithoutKey = 0
    /// Whether it counts as an open connection.
    var isCounted = false

    /// Received bytes that are not processed yet.
    var incoming: [UInt8] = []
    var scanner = HeadScanner()
    /// How many empty lines came before the request line.
    var emptyLines = 0

    /// The number of the current request on this connection.
    var request: UInt64 = 0
    /// The exchange of the current request.
    var exchange: Settlement?
    var isInFlight = false
    var isHeadRequest = false
    var isPersistent = true
    var version = HTTPVersion.http11
    var expectsContinue = false
    var decoder = BodyDecoder(.none)
    /// The deadline for reading the request.
    var requestDue = Deadline.never
    var body: [UInt8] = []
    /// Bytes of the body that the handler holds until it answers.
    var bytesHandedOver = 0
    /// Bytes of the body that were dropped.
    var dropped = 0

    /// What is to be sent, in order.
    var outgoing: [ArraySlice<UInt8>] = []
    var lingersAfterAnswer = false

    /// The number by which the poller knows it.
    var tag: UInt64 = 0
    /// Its memory cost, as the engine last counted it.
    var cost = 0
    var bodyCost = 0

    /// The state of the request on this connection.
    enum Phase {
        /// The TLS handshake is in progress.
        case handshaking
        /// There is no request, or its head is arriving.
        case head
        /// The handler was asked and has not decided.
        case deciding
        /// The handler wants the body.
        case reading(limit: Int, then: @Sendable ([UInt8]) -> Void)
        /// The handler has answered. The answer is sent at the connection's turn.
        case answered(Response)
        /// The answer is known. It is sent when the body has ended; until then, incoming data is dropped.
        case discarding(Response)
        /// The answer is being sent.
        case sending
        /// All has been sent. Incoming data is dropped for a short while, because closing a socket with unread data
        /// would destroy an answer that the client has not read yet.
        case lingering
        case closed
    }

    init(server: ServerContext, socket: ClientSocket, peer: String) {
        self.server = server
        self.socket = socket
        self.peer = peer
        phase = socket.isEncrypted ? .handshaking : .head
        due = .after(seconds: server.configuration.idleTimeout)
    }

    /// Whether closing it harms no one: the client has not asked for anything yet, or has its answer and does not read
    /// it.
    var isExpendable: Bool {
        switch phase {
        case .handshaking, .head, .answered, .sending, .discarding: true
        case .deciding, .reading, .lingering, .closed: false
        }
    }

    /// How much memory it uses, including the kernel's.
    var presentCost: Int {
        guard let socket else { return 0 }
        var bytes = socket.isEncrypted ? Cost.encryptedConnection : Cost.connection
        bytes += incoming.capacity + presentBodyCost
        for piece in outgoing { bytes += piece.count }
        switch phase {
        case .sending: bytes += Cost.kernelBuffer
        // The client sends, and we do not read now.
        case .head where mayRead && !incoming.isEmpty, .deciding where mayRead && !incoming.isEmpty,
            .answered where mayRead && !incoming.isEmpty:
            bytes += Cost.kernelBuffer
        default: break
        }
        return bytes
    }

    /// How much of it is for the request's body.
    var presentBodyCost: Int { socket == nil ? 0 : body.capacity + bytesHandedOver }

    /// In bytes, as measured (Docs/Operations.md, "Memory").
    private enum Cost {
        static let connection = 4 << 10
        static let encryptedConnection = 24 << 10
        static let kernelBuffer = 64 << 10
    }

    /// Continues as far as possible now. Returns true if it should continue after other connections had their turn.
    func proceed(_ engine: Engine) -> Bool {
        let lane = lane
        var steps = lane.stepsInATurn
        while steps > 0, self.lane == lane {
            steps -= 1
            switch phase {
            case .handshaking: guard shakeHands(engine) else { return false }
            case .head: guard takeHead(engine) else { return false }
            case .answered(let response): answer(response, engine)
            // A body is more work.
            case .reading, .discarding:
                steps -= 3
                guard takeBody(engine) else { return false }
            case .sending: guard flush(engine) else { return false }
            case .lingering: guard linger(engine) else { return false }
            case .deciding, .closed: return false
            }
        }
        // Otherwise it waits for the handler, or is gone.
        switch phase {
        case .deciding, .closed: return false
        default: return true
        }
    }

    private func shakeHands(_ engine: Engine) -> Bool {
        switch socket?.shakeHands() {
        case .bytes:
            phase = .head
            return true
        case .notNow: return false
        default:
            close(engine)
            return false
        }
    }

    /// Reads more data from the client; false if there is none now.
    func receive(atMost most: Int, _ engine: Engine) -> Bool {
        guard mayRead, let socket else { return false }
        switch socket.read(into: &engine.scratch, atMost: most) {
        case .bytes(let count):
            incoming += engine.scratch[..<count]
            // A short read means that the socket is empty now, unless the client has also ended its side.
            if count < most, !socket.isEncrypted, !peerHasEnded { mayRead = false }
            return true
        case .notNow:
            mayRead = false
            return false
        case .ended, .failed:
            mayRead = false
            close(engine)
            return false
        }
    }

    /// Closes the connection, whatever its state.
    func close(_ engine: Engine) {
        let (past, wasLingering) = (phase, isLingering)
        guard socket != nil else { return }
        phase = .closed
        due = .never
        _ = exchange?.make()
        exchange = nil
        releaseBody()
        incoming = []
        outgoing = []
        endRequest()
        engine.forget(self, wasLingering: wasLingering)
        self.socket = nil
        // Release the handler's closure here, when all state is consistent again.
        _ = past
    }

    func releaseBody() {
        server.counters.bodyBytesHeld.subtract(body.count, ordering: .relaxed)
        body = []
        bytesHandedOver = 0
    }

    func endRequest() {
        guard isInFlight else { return }
        isInFlight = false
        server.requestEnded()
    }
}
