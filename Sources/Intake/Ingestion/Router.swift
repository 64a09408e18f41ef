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

    /// What `/readyz` needs to know.
    package typealias ReadinessCheck = @Sendable () -> NotReady?

    /// Why the service should get no traffic now.
    package struct NotReady: Sendable {
        package let reason: String
        package init(_ reason: String) { self.reason = reason }
    }

    /// A route that is there, with what answers it.
    private struct Entry: Sendable {
        enum Work: Sendable {
            case page(@Sendable (Pages) -> Response)
            case keyed(Reception)
        }

        let route: Route
        let work: Work
    }

    private let surface: Surface
    private let entries: [Entry]
    private let pages: Pages
    private let clock: (@Sendable () -> Timestamp)?
    private let crossOrigin: CrossOrigin
    private let frontPage: Response

    /// Without an `intake`, as in a process without ingestion, there are only the routes for anybody. `remarks` is what
    /// `/readyz` says besides when the service is ready.
    package init(
        _ surface: Surface, intake: Intake?, metrics: IngestionMetrics, crossOrigin: CrossOrigin = CrossOrigin([]),
        pages: String? = nil,
        isReady: @escaping ReadinessCheck, remarks: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.surface = surface
        self.pages = Pages(metrics: MetricsPage(metrics.registry), isReady: isReady, remarks: remarks)
        clock = intake?.clock
        self.crossOrigin = crossOrigin
        frontPage = FrontPage.response(pages: pages)
        entries = Route.all.filter { $0.isThere(on: surface) }.compactMap { route in
            switch route.work {
            case .page(let response): Entry(route: route, work: .page(response))
            case .keyed(let demands, let work):
                intake.map { Entry(route: route, work: .keyed(Reception(demands, $0, then: work($0)))) }
            }
        }
    }

    /// The HTTP server's own refusals, in our form.
    package static func response(to fault: RequestFault) -> Response { Problem(fault).response }

    package func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
        let answer = Answer(exchange, crossOrigin.headers(for: head))
        if head.method == "OPTIONS", let preflight = crossOrigin.preflight(head) { return answer.now(preflight) }
        if surface != .inside, FrontPage.isAsked(head) { return answer.now(frontPage) }
        for entry in entries {
            let (isThis, install) = entry.route.path.match(head.path)
            guard isThis else { continue }
            let methods = entry.route.methods
            guard methods.contains(head.method) else {
                let allowed = methods.joined(separator: ", ")
                return answer.now(Problem(.methodNotAllowed, "Use \(allowed).", headers: [("Allow", allowed)]))
            }
            switch entry.work {
            case .page(let response): return answer.now(response(pages))
            case .keyed(let reception):
                return reception.begin(Asked(head, install: install, received: ClockReading(telling: clock), answer))
            }
        }
        return answer.now(Problem(.unknownPath, "No such path. The interface is described at /openapi.yaml."))
    }
}
