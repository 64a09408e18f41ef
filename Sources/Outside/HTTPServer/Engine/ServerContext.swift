internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// What all connections of a server have in common.
final class ServerContext: Sendable {
    let configuration: HTTPServerConfiguration
    let handler: any RequestHandler
    let log: Log
    let counters = ServerCounters()
    let mailbox: Mailbox
    private let presentIdentity: Lock<TLSIdentity?>
    private let makeErrorResponse: @Sendable (RequestFault) -> Response
    private let stage = Atomic(Stage.open.rawValue)
    private let drained = Lock(0)
    private let isListenerClosed = Lock(false)

    enum Stage: Int {
        case open
        /// Stopping: requests in flight finish, no new ones begin.
        case draining
    }

    init(
        configuration: HTTPServerConfiguration, identity: TLSIdentity?, handler: any RequestHandler, log: Log,
        mailbox: Mailbox, errorResponse: @escaping @Sendable (RequestFault) -> Response
    ) {
        self.configuration = configuration
        self.handler = handler
        self.log = log
        makeErrorResponse = errorResponse
        self.mailbox = mailbox
        presentIdentity = Lock(identity)
    }

    func errorResponse(_ fault: RequestFault) -> Response { makeErrorResponse(fault) }

    /// The identity for new clients; nil for plain HTTP.
    var identity: TLSIdentity? {
        get { presentIdentity.withLock { $0 } }
        set { presentIdentity.withLock { $0 = newValue } }
    }

    /// An expired certificate is served all the same: the client decides, and its refusal says why.
    func warnOfExpiry() {
        let now = time(nil)
        guard let tls = configuration.tls, let expiry = identity?.expiry, expiry <= now else { return }
        log.warning(
            "the certificate has expired, so clients refuse it: replace the files, and they are reloaded",
            ["file": tls.certificate, "days_ago": "\((now - expiry) / 86_400)"])
    }

    func noteListenerClosed() { isListenerClosed.withLockNotifying { $0 = true } }

    func waitUntilListenerClosed() { _ = isListenerClosed.wait(until: .never) { $0 ? true : nil } }

    var isDraining: Bool { stage.load(ordering: .sequentiallyConsistent) != Stage.open.rawValue }

    func advance(to next: Stage) {
        stage.store(next.rawValue, ordering: .sequentiallyConsistent)
    }

    func requestBegan() {
        counters.requestsInFlight.add(1, ordering: .sequentiallyConsistent)
    }

    func requestEnded() {
        let left = counters.requestsInFlight.subtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isDraining { drained.withLockNotifying { _ in } }
    }

    /// False if the deadline passed first.
    func waitUntilNothingIsInFlight(until deadline: Deadline) -> Bool {
        drained.wait(until: deadline) { _ in
            counters.requestsInFlight.load(ordering: .sequentiallyConsistent) == 0 ? true : nil
        } ?? false
    }
}
