import Compression
import HTTPServer
import ServiceRuntime

/// A server that gives the answers of a script, one after the other, then the last one again; and keeps what it was
/// sent.
final class ScriptedServer: Sendable {
    /// One request.
    struct Request: Sendable {
        let method: String
        let path: String
        let key: String
        let body: String
        let at: Deadline

        /// The body from its source on: all but the time at which it was sent.
        var rest: Substring { body[(body.firstRange(of: "\"source\"")?.lowerBound ?? body.startIndex)...] }
    }

    private let server: HTTPServer
    private let handler: Handler

    init(_ script: [Response], port: UInt16 = 0) throws {
        handler = Handler(script)
        server = try HTTPServer(
            configuration: HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: port)), handler: handler,
            log: .silent
        ) { Response(status: $0.status) }
        server.start()
    }

    deinit { server.stop(deadline: .now) }

    var port: UInt16 { server.port ?? 0 }
    var url: String { "http://127.0.0.1:\(port)" }
    var connections: Int { server.counts.connectionsAccepted }
    var requests: [Request] { handler.requests.withLock { $0 } }

    /// As the service takes an envelope of so many events.
    static func taken(_ events: Int) -> Response {
        Response(status: 200, body: Array(#"{"accepted":\#(events),"duplicate":0,"rejected":0,"results":[]}"#.utf8))
    }

    private final class Handler: RequestHandler {
        let requests = Lock<[Request]>([])
        private let script: [Response]

        init(_ script: [Response]) { self.script = script }

        func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
            let isPacked = head.header("content-encoding") == "gzip"
            let key = head.header("authorization") ?? ""
            return .readBody(upTo: 1 << 20) { [requests, script] body in
                let unpacked = isPacked ? (try? gunzip(body, limit: 8 << 20)) ?? [] : body
                let number = requests.withLockNotifying { requests in
                    requests.append(
                        Request(
                            method: head.method, path: head.path, key: key,
                            body: String(decoding: unpacked, as: UTF8.self), at: .now))
                    return requests.count - 1
                }
                exchange.respond(script[min(number, script.count - 1)])
            }
        }
    }
}
