internal import ServiceRuntime
internal import Synchronization

/// What a server has seen so far, for its metrics.
package struct ServerCounts: Hashable, Sendable {
    package var connectionsOpen = 0
    package var connectionsAccepted = 0
    package var connectionsRefused = 0
    /// How often a client had to wait because the process had no descriptor or no memory left.
    package var acceptFailures = 0
    /// Requests with a complete head and no sent answer yet.
    package var requestsInFlight = 0
    /// Bytes of bodies still arriving.
    package var bodyBytesHeld = 0
    /// Exchanges that the server or the handler still holds.
    package var exchangesAlive = 0
    /// Idle, slow or unresponsive clients that were disconnected without an answer.
    package var connectionsCut = 0
    /// Idle connections that were closed to make room.
    package var connectionsEvicted = 0
    /// The counted memory of connections and bodies.
    package var memoryHeld = 0
    /// Answers by status, including the server's own.
    package var answers: [Int: Int] = [:]
}

final class ServerCounters: Sendable {
    let connectionsAccepted = Atomic(0)
    let connectionsRefused = Atomic(0)
    let connectionsCut = Atomic(0)
    let connectionsEvicted = Atomic(0)
    let connectionsOpen = Atomic(0)
    let memoryHeld = Atomic(0)
    let acceptFailures = Atomic(0)
    let requestsInFlight = Atomic(0)
    let bodyBytesHeld = Atomic(0)
    let exchanges = Atomic(0)
    /// By status; `Response` admits 200 to 599.
    private let answers = Lock([Int](repeating: 0, count: 600))

    func countAnswer(_ status: Int) {
        answers.withLock { $0[status] += 1 }
    }

    func snapshot() -> ServerCounts {
        var counts = ServerCounts()
        counts.connectionsOpen = connectionsOpen.load(ordering: .relaxed)
        counts.connectionsEvicted = connectionsEvicted.load(ordering: .relaxed)
        counts.memoryHeld = memoryHeld.load(ordering: .relaxed)
        counts.connectionsAccepted = connectionsAccepted.load(ordering: .relaxed)
        counts.connectionsRefused = connectionsRefused.load(ordering: .relaxed)
        counts.connectionsCut = connectionsCut.load(ordering: .relaxed)
        counts.acceptFailures = acceptFailures.load(ordering: .relaxed)
        counts.requestsInFlight = requestsInFlight.load(ordering: .relaxed)
        counts.bodyBytesHeld = bodyBytesHeld.load(ordering: .relaxed)
        counts.exchangesAlive = exchanges.load(ordering: .relaxed)
        // Read within the lock: if a copy outlived it, the next answer would have to copy the array.
        counts.answers = answers.withLock { answers in
            var counted: [Int: Int] = [:]
            for (status, count) in answers.enumerated() where count > 0 { counted[status] = count }
            return counted
        }
        return counts
    }
}
