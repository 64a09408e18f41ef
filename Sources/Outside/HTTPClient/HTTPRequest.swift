/// A POST or PUT request.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case post = "POST"
        case put = "PUT"
    }

    package var method = Method.post
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The path of a Unix socket to connect to instead of the URL's host.
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

/// The server's answer.
package struct HTTPResponse: Sendable {
    package let status: Int
    /// In order of arrival, with lower-case names.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The value of a header; the first one if there are several.
    package func header(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }

    /// How many seconds the server asks us to wait. Dates, which the header may also contain, are ignored.
    package var retryAfter: Int? { header("Retry-After").flatMap { Int($0) }.map { max(0, $0) } }
}
