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
