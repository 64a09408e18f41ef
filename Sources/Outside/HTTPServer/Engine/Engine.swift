internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// The I/O thread: accepts clients, reads requests, sends answers, and enforces deadlines. It never waits for anything
/// except the poller.
final class Engine: @unchecked Sendable {
    // SAFETY: after `init`, only `run` touches it, on its one thread.
    let server: ServerContext
    let poller: Poller
    let listener: Listener
    private let doorbell: Doorbell
    /// By the number that the poller uses.
    var connections: [UInt64: Connection] = [:]
    private var nextTag = Engine.firstTag
    /// The number of connections per address.
    var peers: [String: Int] = [:]
    var openCount = 0
    var lingeringCount = 0
    /// The memory that all connections use.
    var memoryHeld = 0
    /// The part of it that bodies use.
    var bodiesHeld = 0
    /// Connections that may continue (`Engine+Turns`).
    var turns = Turns()
    /// The processor's time for those who show no key.
    var visiting = Share()
    var asking = Share()
    /// The buffer for all reads of bodies.
    var scratch = [UInt8](repeating: 0, count: 64 << 10)
    var date = HTTPDate()
    private var isEnding = false
    var isListenerClosed = false
    var mayAccept = false
    /// If there are no descriptors left, retrying accept at once would only waste the processor.
    var acceptPause = Deadline(nanoseconds: 0)
    private let interval: Double

    private static let doorbellTag: UInt64 = 0
    /// The tag of the first listening socket; the others follow.
    private static let listenerTag: UInt64 = 1
    private static let firstTag: UInt64 = 1 << 16

    init(server: ServerContext, listener: Listener, doorbell: Doorbell) throws(HTTPServerError) {
        self.server = server
        self.listener = listener
        self.doorbell = doorbell
        poller = try Poller()
        let times = server.configuration
        let shortest = min(
            times.idleTimeout, times.requestDeadline, times.bodyStallTimeout, times.parkDeadline, times.sendDeadline,
            times.discardTime, times.lingerTime)
        interval = min(0.25, max(0.01, shortest / 4))
        var isWatched = poller.add(doorbell.descriptor, tag: Engine.doorbellTag)
        for (index, descriptor) in listener.descriptors.enumerated() {
            isWatched = isWatched && poller.add(descriptor, tag: Engine.listenerTag + UInt64(index))
        }
        guard isWatched else { throw .cannotStart(reason: SystemError.last.description) }
    }

    /// Returns after `end`, when no connection lingers any more.
    func run() {
        Engine.ignoreBrokenPipes()
        var nextRound = Deadline.now
        while true {
            date.refresh()
            serveEverybody()
            if memoryHeld > server.configuration.memoryLimit { makeRoom() }
            if mayAccept, !isListenerClosed, acceptPause.hasPassed { admitAll() }
            if nextRound.hasPassed {
                expireAll()
                nextRound = .after(seconds: interval)
            }
            if isEnding, connections.isEmpty { break }
            poll()
        }
        server.mailbox.close()
        doorbell.clear()
    }

    private func poll() {
        let isBusy = hasTurnsDue || mayAccept && !isListenerClosed && acceptPause.hasPassed
        let rest = connections.isEmpty && !mayAccept ? -1 : Int32(saturating: interval * 1000)
        let sleeps = !isBusy && server.mailbox.fallAsleep()
        for change in poller.wait(atMost: sleeps ? (hasTurnsLater ? 1 : rest) : 0) {
            switch change.tag {
            case Engine.doorbellTag: doorbell.clear()
            case ..<Engine.firstTag: mayAccept = true
            default:
                guard let connection = connections[change.tag] else { continue }
                if change.peerHasEnded { connection.peerHasEnded = true }
                if change.mayRead {
                    connection.mayRead = true
                    connection.hear()
                }
                if change.mayWrite { connection.mayWrite = true }
                if change.isGone, case .deciding = connection.phase { connection.close(self) }
                queueUp(connection)
            }
        }
        server.mailbox.wake()
    }

    func handleCommands() {
        for command in server.mailbox.take() {
            switch command {
            case .readBody(let connection, let request, let limit, let then):
                connection.read(request, limit: limit, then: then, self)
                queueUp(connection)
            case .answer(let connection, let request, let response):
                connection.settle(request, response)
                queueUp(connection)
            case .stopListening:
                stopListening()
            case .hurry:
                for connection in connections.values {
                    connection.hurry(self)
                    queueUp(connection)
                }
            case .end:
                stopListening()
                isEnding = true
                for connection in connections.values where !connection.isLingering { connection.close(self) }
            }
        }
    }

    private func stopListening() {
        guard !isListenerClosed else { return }
        isListenerClosed = true
        for descriptor in listener.descriptors { poller.remove(descriptor) }
        listener.close()
        server.noteListenerClosed()
    }

    private func expireAll() {
        let now = Deadline.now
        for connection in connections.values where connection.due <= now {
            connection.expire(self)
            queueUp(connection)
        }
    }

    /// Updates a connection's share of the memory count.
    func account(for connection: Connection) {
        let (cost, bodyCost) = (connection.presentCost, connection.presentBodyCost)
        memoryHeld += cost - connection.cost
        bodiesHeld += bodyCost - connection.bodyCost
        (connection.cost, connection.bodyCost) = (cost, bodyCost)
        server.counters.memoryHeld.store(memoryHeld, ordering: .relaxed)
    }

    /// Watches a new connection.
    func add(_ connection: Connection, _ socket: ClientSocket) -> Bool {
        let tag = nextTag
        nextTag += 1
        guard poller.add(socket.descriptor, tag: tag) else { return false }
        connections[tag] = connection
        connection.tag = tag
        queueUp(connection)
        return true
    }

    /// A connection must call this when it closes.
    func forget(_ connection: Connection, wasLingering: Bool) {
        memoryHeld -= connection.cost
        bodiesHeld -= connection.bodyCost
        (connection.cost, connection.bodyCost) = (0, 0)
        if wasLingering { lingeringCount -= 1 }
        stopCounting(connection)
        connections[connection.tag] = nil
    }

    /// Writing to a client that has gone raises SIGPIPE. If the signal is blocked, the write just fails.
    private static func ignoreBrokenPipes() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}
