internal import BellwetherVersion
internal import HTTPServer
internal import ServiceRuntime

/// What the routes for anybody tell.
struct Pages: Sendable {
    let metrics: MetricsPage
    let isReady: Router.ReadinessCheck
    /// What `/readyz` says besides when the service is ready.
    let remarks: @Sendable () -> [String]
    let description = Array(OpenAPIDocument.text.utf8)

    fileprivate static func response(_ type: String, _ body: [UInt8]) -> Response {
        Response(status: 200, headers: [("Content-Type", type)], body: body)
    }

    fileprivate static func text(_ text: String) -> Response {
        response("text/plain; charset=utf-8", Array(text.utf8))
    }
}

extension Route {
    static let health = Route(get: "/healthz", "Health", "Whether the process is alive", for: .both) { _ in
        Pages.text("ok \(BellwetherVersion.number)\n")
    }

    static let readiness = Route(get: "/readyz", "Readiness", "Whether the service should get traffic", for: .both) {
        pages in
        if let reason = pages.isReady() { return Problem(.notReady, reason.reason, retryAfter: 1).response }
        return Pages.text((["ready"] + pages.remarks()).joined(separator: "\n") + "\n")
    }

    static let metrics = Route(get: "/metrics", "Metrics", "What the service counts, for Prometheus", for: .monitors) {
        pages in
        Pages.response("text/plain; version=0.0.4; charset=utf-8", pages.metrics.bytes)
    }

    static let description = Route(get: "/openapi.yaml", "Description", "This interface, as OpenAPI 3.1") { pages in
        Pages.response("application/yaml", pages.description)
    }

    static let schema = Route(get: "/schema.json", "Schema", "One event, as a JSON Schema") { _ in
        Pages.response("application/schema+json", PackageResources.schema_json)
    }
}
