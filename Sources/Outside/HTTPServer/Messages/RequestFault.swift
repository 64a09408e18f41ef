/// Why the server answers a request itself, without its handler or in place of it.
package enum RequestFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not a valid HTTP/1.1 request in strict form; `detail` says why.
    case malformed(detail: String)
    /// The header fields do not make clear where the body ends.
    case ambiguousFraming
    /// The request line and header fields exceed the limit.
    case headTooLarge(limit: Int)
    /// The body exceeds, or will exceed, what the handler accepts.
    case bodyTooLarge(limit: Int)
    /// The body stopped arriving, or took longer than a request may.
    case bodyStalled
    /// The handler did not answer in time.
    case unanswered
    /// The server is stopping.
    case draining
    /// Too many connections, or too many unread bodies in memory.
    case overloaded

    /// The matching status.
    package var status: Int {
        switch self {
        case .malformed, .ambiguousFraming: 400
        case .bodyStalled: 408
        case .bodyTooLarge: 413
        case .headTooLarge: 431
        case .unanswered, .draining, .overloaded: 503
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
