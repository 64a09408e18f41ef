internal import ServiceRuntime
internal import Synchronization

/// A client's connection and the request that is on it.
///
/// The I/O thread alone works on it, in steps that never wait: the head (`Connection+Head`), the body (`Connection+Body`),
/// the answer (`Connection+Answer`), and what happens when time is up (`Connection+Deadlines`). Other threads hold it to say
/// which one they mean.
final class Connection: @unchecked Sendable {
    // SAFETY: `server` and `peer` do not change; all else is touched by the I/O thread alone, which is told by `Mailbox` what
    // others want.
    let server: ServerContext
    /// The client's address without port; `unix` for a client on a Unix socket.
    let peer: String
    private(set) var socket: ClientSocket?
    var phase: Phase
    /// When the attendant must act on `phase`.
    var due: Deadline
    /// Since when it has been the client's turn: to say something, to send its body, or to take its answer.
    var idleSince = Deadline.now

    /// The socket may have something to read, or room to write: the poller tells only of changes.
    var mayRead = true
    var mayWrite = true
    /// The client sends no more: what it sent is still read, and answered if it is whole.
    var peerHasEnded = false
    /// Waits for its turn in this round of the I/O thread.
    var isQueued = false
    /// Counts among the open connections.
    var isCounted = false

    /// What came and was not taken yet.
    var incoming: [UInt8] = []
    var scanner = HeadScanner()
    /// So many came before the request line.
    var emptyLines = 0

    /// Which request of this connection it is.
    var request: UInt64 = 0
    /// Of the request that is on it.
    var exchange: Settlement?
    var isInFlight = false
    var isHeadRequest = false
    var isPersistent = true
    var version = HTTPVersion.http11
    var expectsContinue = false
    var decoder = BodyDecoder(.none)
    /// When the request must have been read.
    var requestDue = Deadline.never
    var body: [UInt8] = []
    /// Bytes of the body that are in the handler's hands until it answers.
    var bytesHandedOver = 0
    /// Bytes that were dropped.
    var dropped = 0

    /// What is to be sent, in this order.
    var outgoing: [ArraySlice<UInt8>] = []
    var lingersAfterAnswer = false

    /// What the poller knows it by.
    var tag: UInt64 = 0
    /// What it costs, as counted by the engine.
    var cost = 0
    var bodyCost = 0

    /// Where the request on this connection stands.
    enum Phase {
        /// TLS is being agreed on.
        case handshaking
        /// There is none, or its head is arriving.
        case head
        /// The handler has been asked and has not decided.
        case deciding
        /// The handler wants the body.
        case reading(limit: Int, then: @Sendable ([UInt8]) -> Void)
        /// Its answer is known. It is sent when the body has ended: what still comes is dropped.
        case discarding(Response)
        /// The answer is on its way.
        case sending
        /// The last word has been said: what still comes is dropped, for a short while, since closing a socket with unread
        /// data would take the answer away from a client that has not read it yet.
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

    /// Whether nobody waits for it: it has asked for nothing yet, or has its answer and does not take it.
    var isExpendable: Bool {
        switch phase {
        case .handshaking, .head, .sending, .discarding: true
        case .deciding, .reading, .lingering, .closed: false
        }
    }

    /// What it takes of memory, the kernel's included.
    var presentCost: Int {
        guard let socket else { return 0 }
        var bytes = socket.isEncrypted ? Cost.encryptedConnection : Cost.connection
        bytes += incoming.capacity + presentBodyCost
        for piece in outgoing { bytes += piece.count }
        switch phase {
        case .sending: bytes += Cost.kernelBuffer
        // It sends, and nobody reads it now.
        case .deciding where mayRead && !incoming.isEmpty: bytes += Cost.kernelBuffer
        default: break
        }
        return bytes
    }

    /// Of the request's body.
    var presentBodyCost: Int { socket == nil ? 0 : body.capacity + bytesHandedOver }

    /// In bytes, as measured (Docs/Operations.md, "Memory").
    private enum Cost {
        static let connection = 4 << 10
        static let encryptedConnection = 24 << 10
        static let kernelBuffer = 64 << 10
    }

    /// Goes on as far as it can now. True if it is to go on when others have had their turn.
    func proceed(_ engine: Engine) -> Bool {
        // So much of what comes in a row; a body is more work.
        var turns = 16
        while turns > 0 {
            turns -= 1
            switch phase {
            case .handshaking: guard shakeHands(engine) else { return false }
            case .head: guard takeHead(engine) else { return false }
            case .reading, .discarding:
                turns -= 3
                guard takeBody(engine) else { return false }
            case .sending: guard flush(engine) else { return false }
            case .lingering: guard linger(engine) else { return false }
            case .deciding, .closed: return false
            }
        }
        return true
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

    /// More of what the client sends; false when there is none now.
    func receive(_ engine: Engine) -> Bool {
        guard mayRead, let socket else { return false }
        switch socket.read(into: &engine.scratch) {
        case .bytes(let count):
            incoming += engine.scratch[..<count]
            // Less than there was room for was all there is, but for an end that came with it.
            if count < engine.scratch.count, !socket.isEncrypted, !peerHasEnded { mayRead = false }
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

    /// The end, whatever was going on.
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
        // What the handler's closure holds goes here, when nothing is half changed any more.
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
