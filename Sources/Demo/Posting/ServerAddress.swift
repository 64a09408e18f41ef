package import HTTPClient
internal import ServiceRuntime

/// Where a server is.
package struct ServerAddress: Sendable {
    private let base: String
    let unixSocket: String?

    /// The URL of one of its paths, such as `/v1/events`.
    func url(of path: String) -> String { base + path }

    /// Whether it is on this machine, where no proxy is used, whatever the environment says.
    var isHere: Bool {
        guard unixSocket == nil else { return true }
        return ["localhost", "127.0.0.1", "[::1]"].contains { host in
            base == "http://\(host)" || base.hasPrefix("http://\(host):") || base.hasPrefix("http://\(host)/")
        }
    }

    /// A URL of the server, with or without the path, or `unix:` and the path of a socket.
    package init(_ text: String) {
        let path = "/v1/events"
        guard !text.hasPrefix("unix:") else {
            (base, unixSocket) = ("http://localhost", String(text.dropFirst(5)))
            return
        }
        var base = Substring(text)
        while base.hasSuffix("/") { base.removeLast() }
        self.base = String(base.hasSuffix(path) ? base.dropLast(path.count) : base)
        unixSocket = nil
    }
}

/// Why nothing more can be posted.
package enum PostingError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreachable(HTTPClientError)
    case keyRefused(status: Int, String)
    /// The server refused the key of the app's server.
    case serverKeyRefused(status: Int, String)
    /// The server lacks something that an app's server needs.
    case missing(String)
    /// It has been too busy for too long.
    case busy(status: Int)
    /// An answer that the contract does not allow for our request.
    case refused(status: Int, String)
    /// It answers 200, but not like the service.
    case stranger

    package var description: String {
        switch self {
        case .unreachable(let error): "\(error)"
        case .keyRefused(let status, let detail):
            "the server does not accept the write key (\(status)). \(String(printable: detail))"
        case .serverKeyRefused(let status, let detail):
            "the server does not accept the server key (\(status)). \(String(printable: detail))"
        case .busy(let status): "the server is too busy to accept sends (\(status)): try again later"
        case .missing(let path): "the server has no \(path) (404): is it an older Bellwether?"
        case .refused(404, _): "the server has no /v1/events (404): is it a Bellwether?"
        case .refused(let status, let detail):
            "the server refused an envelope (\(status)). \(String(printable: detail))"
        case .stranger: "the server answers, but not as a Bellwether: is the URL right?"
        }
    }
}
