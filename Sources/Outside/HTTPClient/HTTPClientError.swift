/// Why no answer came, in words for people. It never contains a header or body, so it never contains a key.
package enum HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The URL is invalid, or neither http nor https.
    case invalidURL(String)
    /// A header contains characters that would end its line.
    case invalidHeader(String)
    /// Its host has no address.
    case unknownHost(String)
    /// The server does not listen, or is unreachable.
    case noConnection(String)
    /// The server is not the one that it should be, or does not speak TLS.
    case untrusted(String)
    /// The time limit has passed.
    case timedOut(String)
    /// The connection broke before the answer was complete.
    case broken(String)
    /// The answer exceeds the limit.
    case answerTooLarge(limit: Int)
    /// What answers does not speak HTTP.
    case noHTTP(String)
    /// Anything else, in libcurl's words.
    case other(String)

    package var description: String {
        switch self {
        case .invalidURL(let url): "'\(url)' is not a URL to post to: use http://host:port or https://host"
        case .invalidHeader(let name): "the header \(name) contains a control character"
        case .unknownHost(let url): "the host of \(url) is unknown: is it spelled correctly?"
        case .noConnection(let url): "no connection: is the server running at \(url)?"
        case .untrusted(let reason): "no safe connection: \(reason)"
        case .timedOut(let url): "\(url) did not answer in time"
        case .broken(let url): "the connection to \(url) broke before an answer came"
        case .answerTooLarge(let limit): "the answer has more than \(limit) bytes: is this the right server?"
        case .noHTTP(let url): "\(url) answers with something else than HTTP: is this the right server?"
        case .other(let reason): "the request failed: \(reason)"
        }
    }

    /// Whether the same request may succeed later.
    package var mayPass: Bool {
        switch self {
        case .noConnection, .unknownHost, .timedOut, .broken, .other: true
        case .invalidURL, .invalidHeader, .untrusted, .answerTooLarge, .noHTTP: false
        }
    }
}
