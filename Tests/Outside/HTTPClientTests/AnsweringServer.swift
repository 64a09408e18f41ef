import HTTPServer
import ServiceRuntime

/// A server whose routes answer in the ways that a client has to deal with.
final class AnsweringServer: Sendable {
    private let server: HTTPServer
    private let parked: Lock<[Exchange]>

    init(
        listen: HTTPServerConfiguration.Address = .tcp(host: "127.0.0.1", port: 0),
        tls: HTTPServerConfiguration.TLS? = nil
    ) throws {
        let routes = Routes()
        parked = routes.parked
        server = try HTTPServer(configuration: .init(listen: listen, tls: tls), handler: routes, log: .silent) {
            fault in
            Response(status: fault.status)
        }
        server.start()
    }

    deinit {
        parked.withLock { $0 = [] }
        server.stop(deadline: .now)
    }

    var port: UInt16 { server.port ?? 0 }
    var connections: Int { server.counts.connectionsAccepted }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private final class Routes: RequestHandler {
        let parked = Lock([Exchange]())

        func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
            switch head.path {
            case "/echo":
                let said = "\(head.method) \(head.header("x-said") ?? "-") \(head.header("expect") ?? "-") "
                return .readBody(upTo: 8 << 20) { body in
                    exchange.respond(Response(status: 200, body: Array(said.utf8) + body))
                }
            case "/agent":
                exchange.respond(Response(status: 200, body: Array((head.header("user-agent") ?? "").utf8)))
            case "/away":
                let headers = [("Retry-After", "7"), ("X-Several", " a  b ")]
                exchange.respond(Response(status: 503, headers: headers, body: Array("later".utf8)))
            case "/elsewhere":
                exchange.respond(Response(status: 302, headers: [("Location", "/echo")]))
            case "/large":
                exchange.respond(Response(status: 200, body: Array(repeating: 0x78, count: 1 << 20)))
            default:
                parked.withLock { $0.append(exchange) }
            }
            return .wait
        }
    }
}
