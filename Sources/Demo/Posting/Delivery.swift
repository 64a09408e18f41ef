internal import Compression
internal import HTTPClient
internal import JSON
package import Simulation

/// An envelope to deliver, with the key of its app.
package struct KeyedEnvelope: Sendable {
    package let envelope: Envelope
    package let key: String

    package init(_ envelope: Envelope, key: String) {
        self.envelope = envelope
        self.key = key
    }
}

/// One connection to a server's `/v1/events`. For one thread at a time.
final class Delivery {
    /// A body that fits into one packet is not compressed.
    private static let packedFrom = 1400

    private let server: ServerAddress
    private let connection: HTTPConnection
    private let parser = JSONParser(maximumBytes: 4 << 20)

    init(_ server: ServerAddress) {
        self.server = server
        connection = HTTPConnection(usesProxy: !server.isHere)
    }

    /// Makes one attempt.
    func post(_ body: [UInt8], key: String) throws(HTTPClientError) -> PostAnswer {
        var request = HTTPRequest(
            url: server.url(of: "/v1/events"),
            headers: [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")], body: body,
            unixSocket: server.unixSocket)
        if body.count > Delivery.packedFrom {
            request.body = gzip(body)
            request.headers.append(("Content-Encoding", "gzip"))
        }
        return PostAnswer(try connection.send(request), parser: parser)
    }
}
