import Foundation
import HTTPServer
import ServiceRuntime

/// A place that keeps what it hears, and answers as it is told.
final class ListeningPlace: Sendable {
    struct Heard: Sendable {
        let path: String
        let headers: [String: String]
        let body: String

        /// The body as JSON.
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
        var period: String { object["period"] as? String ?? "" }
        var isRepeat: Bool { object["repeat"] as? Bool ?? false }
    }

    private struct State {
        var heard: [Heard] = []
        var status = 200
        var answer = "ok"
    }

    private final class Route: RequestHandler {
        let state = Lock(State())

        func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
            let names: [StaticString] = [
                "webhook-id", "webhook-timestamp", "webhook-signature", "content-type", "user-agent",
            ]
            let headers = names.compactMap { name in head.header(name).map { (name.description, $0) } }
            let path = head.path
            return .readBody(upTo: 8 << 20) { [state] body in
                let heard = Heard(
                    path: path, headers: Dictionary(uniqueKeysWithValues: headers),
                    body: String(decoding: body, as: UTF8.self))
                let (status, answer) = state.withLock { state in
                    state.heard.append(heard)
                    return (state.status, state.answer)
                }
                exchange.respond(Response(status: status, body: Array(answer.utf8)))
            }
        }
    }

    private let server: HTTPServer
    private let state: Lock<State>

    init(tls: HTTPServerConfiguration.TLS? = nil) throws {
        let route = Route()
        state = route.state
        server = try HTTPServer(
            configuration: .init(listen: .tcp(host: "127.0.0.1", port: 0), tls: tls), handler: route, log: .silent
        ) { fault in Response(status: fault.status) }
        server.start()
    }

    deinit { server.stop(deadline: .now) }

    var url: String { "http://127.0.0.1:\(server.port ?? 0)" }
    var heard: [Heard] { state.withLock { $0.heard } }
    var connections: Int { server.counts.connectionsAccepted }

    func answer(_ status: Int, _ answer: String = "") {
        state.withLock { ($0.status, $0.answer) = (status, answer) }
    }
}
