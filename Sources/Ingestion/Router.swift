package import HTTPServer
internal import ServiceRuntime

/// From path and method to the one that answers. Everything that is not an event is answered here.
package final class Router: RequestHandler {
    package enum Surface: Sendable {
        /// All paths.
        case everything
        /// `/metrics` and nothing else, for a door of its own.
        case metricsOnly
        /// All but `/metrics`, which then has a door of its own.
        case withoutMetrics
    }

    /// What `/readyz` needs to know.
    package typealias ReadinessCheck = @Sendable () -> NotReady?

    /// Why the service should get no traffic now.
    package struct NotReady: Sendable {
        package let reason: String
        package init(_ reason: String) { self.reason = reason }
    }

    private let surface: Surface
    private let events: EventsRoute?
    private let metrics: IngestionMetrics
    private let isReady: ReadinessCheck
    private let crossOrigin: CrossOrigin

    package init(
        _ surface: Surface, events: EventsRoute?, metrics: IngestionMetrics, crossOrigin: CrossOrigin = CrossOrigin([]),
        isReady: @escaping ReadinessCheck
    ) {
        self.surface = surface
        self.events = events
        self.metrics = metrics
        self.isReady = isReady
        self.crossOrigin = crossOrigin
    }

    /// The server's own refusals, in our words.
    package static func response(to fault: RequestFault) -> Response { Problem(fault).response }

    package func begin(_ head: RequestHead, _ exchange: Exchange) {
        let answer = Answer(exchange, crossOrigin.headers(for: head))
        if head.method == "OPTIONS", let preflight = crossOrigin.preflight(head) { return answer.send(preflight) }
        switch (head.path, surface) {
        case ("/v1/events", .everything), ("/v1/events", .withoutMetrics):
            guard head.method == "POST" else { return refuse(head, answer, allow: "POST") }
            events?.begin(head, answer)
        case ("/healthz", .everything), ("/healthz", .withoutMetrics):
            read(head, answer) { Self.text("ok\n") }
        case ("/readyz", .everything), ("/readyz", .withoutMetrics):
            read(head, answer) {
                guard let reason = self.isReady() else { return Self.text("ready\n") }
                return Problem(.notReady, reason.reason, retryAfter: 1).response
            }
        case ("/metrics", .everything), ("/metrics", .metricsOnly):
            read(head, answer) {
                Response(
                    status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                    body: Array(self.metrics.registry.render().utf8))
            }
        case ("/openapi.yaml", .everything), ("/openapi.yaml", .withoutMetrics):
            read(head, answer) {
                Response(
                    status: 200, headers: [("Content-Type", "application/yaml")], body: PackageResources.openapi_yaml)
            }
        default:
            answer.send(Problem(.unknownPath, "No such path. The interface is described at /openapi.yaml."))
        }
    }

    private func read(_ head: RequestHead, _ answer: Answer, _ respond: () -> Response) {
        guard head.method == "GET" || head.method == "HEAD" else { return refuse(head, answer, allow: "GET, HEAD") }
        answer.send(respond())
    }

    private func refuse(_ head: RequestHead, _ answer: Answer, allow: String) {
        answer.send(Problem(.methodNotAllowed, "Use \(allow).", headers: [("Allow", allow)]))
    }

    private static func text(_ text: String) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }
}

/// The way back to one client, with what every answer carries.
struct Answer: Sendable {
    private let exchange: Exchange
    private let headers: [(String, String)]

    init(_ exchange: Exchange, _ headers: [(String, String)]) {
        self.exchange = exchange
        self.headers = headers
    }

    func send(_ response: Response) {
        let whole =
            headers.isEmpty
            ? response : Response(status: response.status, headers: response.headers + headers, body: response.body)
        exchange.respond(whole)
    }

    func send(_ problem: Problem) { send(problem.response) }

    func readBody(upTo limit: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        exchange.readBody(upTo: limit, then: then)
    }
}
