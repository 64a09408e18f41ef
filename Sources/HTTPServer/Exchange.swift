internal import Synchronization

/// One request and its one answer. The handler's end of it: may be kept, and used from any thread.
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

    /// Has the whole body handed to `then`, on the I/O thread; `then` must not block, and must lead to one `respond`.
    /// A body over `limit` bytes is answered with `bodyTooLarge`, one that does not come with `bodyStalled`; `then` is
    /// not called for these. To be called once.
    package func readBody(upTo limit: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        guard !settlement.isMade else { return }
        connection.server.mailbox.post(.readBody(connection, request: request, limit: limit, then: then))
    }

    /// Answers. False, and nothing else, if the request has its answer already: an earlier one of the handler, or the
    /// server's own after a deadline, or if the client is gone.
    @discardableResult package func respond(_ response: Response) -> Bool {
        guard settlement.make() else { return false }
        connection.server.mailbox.post(.answer(connection, request: request, response))
        return true
    }
}

/// Who answers a request: the handler or the server, whoever is first, and no other.
final class Settlement: Sendable {
    private let made = Atomic(false)

    var isMade: Bool { made.load(ordering: .acquiring) }

    /// True for the first.
    func make() -> Bool {
        made.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
