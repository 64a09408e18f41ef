import HTTPServer
import ServiceRuntime
import TestSupport

/// A server with a few routes, each of which behaves in one way.
final class TestServer: Sendable {
    let server: HTTPServer
    let parked: Lock<[Exchange]>
    let bodies: Lock<[[UInt8]]>
    /// In their order: the path of a request when it begins, and `body` when that of an `/echo` is whole.
    let steps: Lock<[String]>
    /// How many `/block` may be answered.
    let gate: Lock<Int>

    init(
        listen: HTTPServerConfiguration.Address = .tcp(host: "127.0.0.1", port: 0),
        tls: HTTPServerConfiguration.TLS? = nil, _ adjust: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = HTTPServerConfiguration(listen: listen, tls: tls)
        adjust(&configuration)
        let handler = Routes()
        parked = handler.parked
        bodies = handler.bodies
        steps = handler.steps
        gate = handler.gate
        server = try HTTPServer(configuration: configuration, handler: handler, log: .silent) { fault in
            Response(
                status: fault.status, headers: [("Content-Type", "text/plain"), ("X-Fault", "yes")],
                body: Array(fault.description.utf8))
        }
        server.start()
    }

    deinit {
        gate.withLockNotifying { $0 = .max }
        server.stop(deadline: .now)
        // The handler holds what holds the handler.
        parked.withLock { $0 = [] }
    }

    var port: UInt16 { server.port ?? 0 }

    func client() throws -> RawClient { try RawClient(port: port) }

    /// The exchanges that `/park` keeps, once there are so many.
    func parked(_ count: Int) -> [Exchange] {
        parked.wait(until: .after(seconds: 60)) { $0.count >= count ? $0 : nil } ?? []
    }

    /// Whether `/block` holds the I/O thread, so many requests having begun.
    func isBlocked(after count: Int) -> Bool {
        steps.wait(until: .after(seconds: 60)) { $0.count == count && $0.last == "/block" ? true : nil } ?? false
    }

    /// Waits until the server's counts are as wanted.
    func counts(until condition: (ServerCounts) -> Bool) -> ServerCounts {
        let deadline = Deadline.after(seconds: 60)
        let tick = Lock(())
        while !deadline.hasPassed, !condition(server.counts) {
            _ = tick.wait(until: .after(seconds: 0.005)) { _ in Bool?.none }
        }
        return server.counts
    }

    private final class Routes: RequestHandler {
        let parked = Lock([Exchange]())
        let bodies = Lock([[UInt8]]())
        let steps = Lock([String]())
        let gate = Lock(0)

        func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
            steps.withLockNotifying { $0.append(head.path) }
            switch head.path {
            case "/block":
                // What no handler may do: holds the I/O thread, until the test has sent what is to come together.
                _ = gate.wait(until: .after(seconds: 60)) { left -> Bool? in
                    guard left > 0 else { return nil }
                    left -= 1
                    return true
                }
                exchange.respond(Response(status: 200))
            case "/hello":
                exchange.respond(Response(status: 200, headers: [("Content-Type", "text/plain")], body: text("hello")))
            case "/head":
                let said = [head.method, head.path, head.query ?? "-", head.header("x-a") ?? "-", head.peer]
                exchange.respond(Response(status: 200, body: text(said.joined(separator: "|"))))
            case "/deny":
                exchange.respond(Response(status: 401, body: text("who are you?")))
            case "/echo":
                return .readBody(upTo: 1 << 20) { [bodies, steps] body in
                    steps.withLockNotifying { $0.append("body") }
                    bodies.withLockNotifying { $0.append(body) }
                    exchange.respond(Response(status: 200, body: body))
                }
            case "/count":
                return .readBody(upTo: 1 << 20) { body in
                    exchange.respond(Response(status: 200, body: Array(String(body.count).utf8)))
                }
            case "/park":
                parked.withLockNotifying { $0.append(exchange) }
            case "/read-then-park":
                return .readBody(upTo: 1 << 20) { [parked] _ in
                    parked.withLockNotifying { $0.append(exchange) }
                }
            case "/thread":
                _ = Worker(name: "answer") { exchange.respond(Response(status: 200, body: Array("later".utf8))) }
            case "/thread-echo":
                _ = Worker(name: "read") {
                    exchange.readBody(upTo: 1 << 20) { body in
                        _ = Worker(name: "answer") { exchange.respond(Response(status: 200, body: body)) }
                    }
                }
            case "/twice":
                let first = exchange.respond(Response(status: 200, body: text("first")))
                let second = exchange.respond(Response(status: 500, body: text("second")))
                precondition(first && !second)
            case "/large":
                exchange.respond(Response(status: 200, body: [UInt8](repeating: 0x78, count: 8 << 20)))
            case "/evil":
                exchange.respond(
                    Response(
                        status: 200,
                        headers: [("X-Good", "1"), ("X-Bad", "a\r\nX-Made: up"), ("Content-Length", "9999")],
                        body: text("ok")))
            default:
                exchange.respond(Response(status: 404, body: text("no such path")))
            }
            return .wait
        }

        private func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    }
}
