internal import Synchronization

/// One request and its one answer. The handler's end of it: may be kept, and used from any thread.
package final class Exchange: Sendable {
    private let connection: Connection
    private let request: UInt64
    private let contentLength: Int?

    init(connection: Connection, request: UInt64, contentLength: Int?) {
        self.connection = connection
        self.request = request
        self.contentLength = contentLength
        connection.server.counters.exchanges.add(1, ordering: .relaxed)
    }

    deinit {
        connection.server.counters.exchanges.subtract(1, ordering: .relaxed)
    }

    /// Has the whole body handed to `then`, on an I/O thread; `then` must not block, and must lead to one `respond`.
    /// A body over `limit` bytes is answered with `bodyTooLarge`, one that does not come with `bodyStalled`; `then` is
    /// not called for these.
    package func readBody(upTo limit: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        connection.readBody(of: request, contentLength: contentLength, limit: limit, then: then)
    }

    /// Answers. False, and nothing else, if the request has its answer already: an earlier one of the handler, or the
    /// server's own after a deadline, or if the client is gone.
    @discardableResult package func respond(_ response: Response) -> Bool {
        connection.respond(to: request, with: response)
    }
}
