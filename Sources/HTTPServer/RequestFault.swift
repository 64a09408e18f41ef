/// Why the server answers a request by itself, without or against its handler.
package enum RequestFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What came is no request of HTTP/1.1, or not in its only spelling; `detail` says what is wrong with it.
    case malformed(detail: String)
    /// The header fields leave open where the body ends.
    case ambiguousFraming
    /// Request line and header fields are over the limit.
    case headTooLarge(limit: Int)
    /// The body is, or will be, over what the handler takes.
    case bodyTooLarge(limit: Int)
    /// The body stopped coming, or took longer than a request may.
    case bodyStalled
    /// The handler had no answer in time.
    case unanswered
    /// The server is stopping.
    case draining
    /// Too many connections, or too many unread bodies in memory.
    case overloaded

    /// The status that fits.
    package var status: Int {
        switch self {
        case .malformed, .ambiguousFraming: 400
        case .bodyStalled: 408
        case .bodyTooLarge: 413
        case .headTooLarge: 431
        case .unanswered, .draining, .overloaded: 503
        }
    }

    /// Nobody knows where the next request begins, or whether this client is worth one: the connection ends.
    var endsConnection: Bool {
        switch self {
        case .malformed, .ambiguousFraming, .headTooLarge: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .malformed(let detail): "This is not HTTP/1.1: \(detail)."
        case .ambiguousFraming:
            "The request does not say clearly where its body ends: send one Content-Length, or "
                + "Transfer-Encoding: chunked."
        case .headTooLarge(let limit): "The request line and header fields have more than \(limit) bytes."
        case .bodyTooLarge(let limit): "The body has more than \(limit) bytes."
        case .bodyStalled: "The body did not arrive in time: send it again."
        case .unanswered: "The server could not finish in time: try again later."
        case .draining: "The server is stopping: try again, with a new connection."
        case .overloaded: "The server is overloaded: try again later."
        }
    }
}
