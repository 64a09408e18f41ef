/// A POST, or a PUT, that is to be sent.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case post = "POST"
        case put = "PUT"
    }

    package var method = Method.post
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Where to connect to instead of the URL's host: the path of a Unix socket.
    package var unixSocket: String?

    package init(
        url: String, headers: [(name: String, value: String)] = [], body: [UInt8], unixSocket: String? = nil
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.unixSocket = unixSocket
    }
}

/// What a server answered.
package struct HTTPResponse: Sendable {
    package let status: Int
    /// In the order in which they came, names in lower case.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The value of a header; of several with the name the first.
    package func header(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }

    /// Seconds that the server wants to be left alone for. The date that may stand there as well is not read.
    package var retryAfter: Int? { header("Retry-After").flatMap { Int($0) }.map { max(0, $0) } }
}
