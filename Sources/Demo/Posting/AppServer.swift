internal import HTTPClient
internal import JSON
internal import ServiceRuntime
package import Simulation

/// What an app's own server does besides its phones: it registers the categories and experiments, and reports what it
/// sent. For one thread at a time.
package final class AppServer {
    /// The most sends in one request; a story's payload has some kilobytes.
    private static let mostSends = 200
    private static let patience = 30.0

    private let server: ServerAddress
    private let key: String
    private let connection: HTTPConnection
    private let parser = JSONParser(maximumBytes: 4 << 20)

    /// `key` is a server key of the app.
    package init(_ server: ServerAddress, key: String) {
        (self.server, self.key) = (server, key)
        connection = HTTPConnection(usesProxy: !server.isHere)
    }

    /// `PUT /v1/categories`.
    package func register(categories document: String) throws(PostingError) {
        try put(document, to: "/v1/categories")
    }

    /// `PUT /v1/experiments`.
    package func register(experiments document: String) throws(PostingError) {
        try put(document, to: "/v1/experiments")
    }

    private func put(_ document: String, to path: String) throws(PostingError) {
        let response = try send(.put, path, Array(document.utf8))
        guard response.status == 200 else { throw refusal(of: response, path) }
    }

    /// `POST /v1/sends`. Returns how many sends were new and how many were known. Throws for any other answer.
    package func tell(_ sends: [SendText]) throws(PostingError) -> (new: Int, known: Int) {
        var (new, known) = (0, 0)
        var rest = sends[...]
        while !rest.isEmpty {
            let part = rest.prefix(AppServer.mostSends)
            rest = rest.dropFirst(part.count)
            let body = "{\"sends\":[\(part.map(\.text).joined(separator: ","))]}"
            let path = "/v1/sends"
            let response = try send(.post, path, Array(body.utf8))
            guard case .taken(let accepted, let duplicate, 0) = PostAnswer(response, parser: parser) else {
                throw refusal(of: response, path)
            }
            (new, known) = (new + accepted, known + duplicate)
        }
        return (new, known)
    }

    /// Repeats a request while the server asks to try later.
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]
    ) throws(PostingError) -> HTTPResponse {
        var request = HTTPRequest(
            url: server.url(of: path),
            headers: [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")], body: body,
            unixSocket: server.unixSocket)
        request.method = method
        var backoff = Backoff(first: 0.25, most: 5)
        let end = Deadline.after(seconds: AppServer.patience)
        while true {
            let response: HTTPResponse
            do throws(HTTPClientError) { response = try connection.send(request) } catch { throw .unreachable(error) }
            guard [408, 429].contains(response.status) || response.status >= 500 else { return response }
            guard !end.hasPassed else { throw .busy(status: response.status) }
            let pause = max(Double(response.retryAfter ?? 0), backoff.next())
            let _: Bool? = Lock(()).wait(until: .after(seconds: min(pause, end.secondsLeft))) { _ in nil }
        }
    }

    private func refusal(of response: HTTPResponse, _ path: String) -> PostingError {
        let detail = PostAnswer.detail(response.body, parser)
        return switch response.status {
        case 200: .stranger
        case 404: .missing(path)
        case 401, 403: .serverKeyRefused(status: response.status, detail)
        default: .refused(status: response.status, detail)
        }
    }
}
