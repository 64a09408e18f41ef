internal import Synchronization

/// One request and its one answer, as the handler sees it. The handler may keep it, and use it from any thread.
package final class Exchange: Sendable {
    private let connection: Connection
    private let request: UInt64
    private let settlement: Settlement

    init(connection: Connection, request: UInt64, settlement: Settlement) {
        self.connection = connection
        self.request = request
        self.settlement = settlement
        connection.server.counters.exchanges.add(1, ordering: .relaxed)
    }

    deinit {
        connection.server.counters.exchanges.subtract(1, ordering: .relaxed)
    }

    /// Passes the whole body to `then` on the I/O thread. `then` must not block, and must lead to one `respond`. The
    /// server itself answers a body over `limit` bytes with `bodyTooLarge` and one that does not arrive with
    /// `bodyStalled`, and does not call `then`. Call it once.
    package func readBody(upTo limit: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        guard !settlement.isMade else { return }
        connection.server.mailbox.post(.readBody(connection, request: request, limit: limit, then: then))
    }

    /// Whether the client has hung up, or sends no more, which most do only to hang up. A handler that makes it wait
    /// may stop.
    package var hasBeenLeft: Bool { settlement.isMade || settlement.isLeft }

    /// Answers. Returns false, and does nothing, if the request already has an answer (an earlier one of the handler,
    /// or the server's own after a deadline) or if the client is gone.
    @discardableResult package func respond(_ response: Response) -> Bool {
        guard settlement.make() else { return false }
        connection.server.mailbox.post(.answer(connection, request: request, response))
        return true
    }
}

/// Decides who answers a request: the handler or the server, whichever is first.
final class Settlement: Sendable {
    private let made = Atomic(false)
    private let left = Atomic(false)

    var isLeft: Bool { left.load(ordering: .acquiring) }

    func leave() { left.store(true, ordering: .releasing) }

    var isMade: Bool { made.load(ordering: .acquiring) }

    /// Returns true to the first caller only.
    func make() -> Bool {
        made.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
