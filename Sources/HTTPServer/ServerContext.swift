internal import ServiceRuntime
internal import Synchronization

/// What all connections of a server have in common.
final class ServerContext: Sendable {
    let configuration: HTTPServerConfiguration
    let handler: any RequestHandler
    let log: Log
    let counters = ServerCounters()
    let connections = ConnectionTable()
    let lingering: LingeringSockets
    private let makeErrorResponse: @Sendable (RequestFault) -> Response
    private let stage = Atomic(Stage.open.rawValue)
    private let drained = Lock(0)
    private let complaint = Lock(String?.none)

    enum Stage: Int {
        case open
        /// Stopping: what is in flight finishes, nothing new begins.
        case draining
        /// Nothing waits any more: a connection must not be parked from here on.
        case closing
    }

    init(
        configuration: HTTPServerConfiguration, handler: any RequestHandler, log: Log, doorbell: Doorbell,
        errorResponse: @escaping @Sendable (RequestFault) -> Response
    ) {
        self.configuration = configuration
        self.handler = handler
        self.log = log
        makeErrorResponse = errorResponse
        lingering = LingeringSockets(
            doorbell: doorbell, time: configuration.lingerTime, bytesEach: configuration.discardLimit)
    }

    func errorResponse(_ fault: RequestFault) -> Response { makeErrorResponse(fault) }

    /// libmicrohttpd has something to say.
    func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        // It becomes part of a sentence.
        complaint.withLock { $0 = line.hasSuffix(".") ? String(line.dropLast()) : line }
        log.debug("libmicrohttpd", ["says": line])
    }

    var lastComplaint: String? { complaint.withLock { $0 } }

    var isDraining: Bool { stage.load(ordering: .sequentiallyConsistent) != Stage.open.rawValue }
    var isClosing: Bool { stage.load(ordering: .sequentiallyConsistent) == Stage.closing.rawValue }

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
