internal import BellwetherVersion
package import HTTPServer
internal import ServiceRuntime
internal import Values

/// Passes a request to the route for its path and method. Answers all paths without a route itself.
package final class Router: RequestHandler {
    package enum Surface: Sendable {
        /// All paths.
        case everything
        /// What monitors ask for, on its own address.
        case inside
        /// All but `/metrics`, which then has its own address.
        case withoutMetrics
    }

    enum Path: String, CaseIterable {
        case events = "/v1/events"
        case categories = "/v1/categories"
        case experiments = "/v1/experiments"
        case sends = "/v1/sends"
        case install = "/v1/installs/{install_id}"
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"
        case description = "/openapi.yaml"
        case schema = "/schema.json"

        var methods: [String] {
            switch self {
            case .events, .sends: ["POST"]
            case .categories, .experiments: ["PUT"]
            case .install: ["DELETE"]
            case .health, .readiness, .metrics, .description, .schema: ["GET", "HEAD"]
            }
        }

        /// The one that a request's path is of, and the install that it names.
        static func of(_ path: String) -> (path: Path, install: UUID?)? {
            let installs = "/v1/installs/"
            guard path.hasPrefix(installs) else { return Path(rawValue: path).map { ($0, nil) } }
            return UUID(String(path.dropFirst(installs.count))).map { (.install, $0) }
        }

        func isThere(on surface: Surface) -> Bool {
            switch surface {
            case .everything: true
            case .inside: [.metrics, .health, .readiness].contains(self)
            case .withoutMetrics: self != .metrics
            }
        }
    }

    /// The routes that need the database; none in a process without ingestion.
    package struct Routes: Sendable {
        package var events: EventsRoute?
        package var categories: CategoriesRoute?
        package var experiments: ExperimentsRoute?
        package var sends: SendsRoute?
        package var installs: InstallsRoute?

        package init(
            events: EventsRoute? = nil, categories: CategoriesRoute? = nil, experiments: ExperimentsRoute? = nil,
            sends: SendsRoute? = nil, installs: InstallsRoute? = nil
        ) {
            (self.events, self.categories, self.experiments) = (events, categories, experiments)
            (self.sends, self.installs) = (sends, installs)
        }

        fileprivate func have(_ path: Path) -> Bool {
            switch path {
            case .events: events != nil
            case .categories: categories != nil
            case .experiments: experiments != nil
            case .sends: sends != nil
            case .install: installs != nil
            case .health, .readiness, .metrics, .description, .schema: true
            }
        }
    }

    /// What `/readyz` needs to know.
    package typealias ReadinessCheck = @Sendable () -> NotReady?

    /// Why the service should get no traffic now.
    package struct NotReady: Sendable {
        package let reason: String
        package init(_ reason: String) { self.reason = reason }
    }

    private let surface: Surface
    private let routes: Routes
    private let metricsPage: MetricsPage
    private let isReady: ReadinessCheck
    private let remarks: @Sendable () -> [String]
    private let crossOrigin: CrossOrigin
    private let frontPage: Response

    /// `remarks` is what `/readyz` says besides when the service is ready.
    package init(
        _ surface: Surface, routes: Routes, metrics: IngestionMetrics, crossOrigin: CrossOrigin = CrossOrigin([]),
        pages: String? = nil,
        isReady: @escaping ReadinessCheck, remarks: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.surface = surface
        self.routes = routes
        metricsPage = MetricsPage(metrics.registry)
        self.isReady = isReady
        self.remarks = remarks
        self.crossOrigin = crossOrigin
        frontPage = FrontPage.response(pages: pages)
    }

    /// The HTTP server's own refusals, in our form.
    package static func response(to fault: RequestFault) -> Response { Problem(fault).response }

    package func begin(_ head: RequestHead, _ exchange: Exchange) {
        let answer = Answer(exchange, crossOrigin.headers(for: head))
        if head.method == "OPTIONS", let preflight = crossOrigin.preflight(head) { return answer.send(preflight) }
        if surface != .inside, FrontPage.isAsked(head) { return answer.send(frontPage) }
        guard let (path, install) = Path.of(head.path), path.isThere(on: surface), routes.have(path) else {
            return answer.send(Problem(.unknownPath, "No such path. The interface is described at /openapi.yaml."))
        }
        guard path.methods.contains(head.method) else {
            let allowed = path.methods.joined(separator: ", ")
            return answer.send(Problem(.methodNotAllowed, "Use \(allowed).", headers: [("Allow", allowed)]))
        }
        switch path {
        case .events: routes.events?.begin(head, answer)
        case .categories: routes.categories?.begin(head, answer)
        case .experiments: routes.experiments?.begin(head, answer)
        case .sends: routes.sends?.begin(head, answer)
        case .install: if let install { routes.installs?.begin(head, of: install, answer) }
        case .health: answer.send(Self.text("ok \(BellwetherVersion.number)\n"))
        case .readiness:
            guard let reason = isReady() else {
                return answer.send(Self.text((["ready"] + remarks()).joined(separator: "\n") + "\n"))
            }
            answer.send(Problem(.notReady, reason.reason, retryAfter: 1))
        case .metrics:
            answer.send(
                Response(
                    status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                    body: metricsPage.bytes))
        case .description:
            answer.send(
                Response(
                    status: 200, headers: [("Content-Type", "application/yaml")], body: PackageResources.openapi_yaml))
        case .schema:
            answer.send(
                Response(
                    status: 200, headers: [("Content-Type", "application/schema+json")],
                    body: PackageResources.schema_json))
        }
    }

    private static func text(_ text: String) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }
}

/// Answers one client, with the header fields of every answer.
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
