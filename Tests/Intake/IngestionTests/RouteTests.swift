import Testing
import Values

@testable import Ingestion

@Suite("The declared routes")
struct RouteTests {
    @Test("a path has one route, which its own path finds")
    func paths() {
        let install = "00000000-0000-0000-0000-000000000001"
        let paths = Route.all.map { $0.path.text.replacing("{install_id}", with: install) }
        for (index, path) in paths.enumerated() {
            let found = Route.all.indices.filter { Route.all[$0].path.match(path).isThis }
            #expect(found == [index], "\(path)")
        }
        #expect(Set(paths).count == paths.count)
    }

    @Test("a path that names an install must name one")
    func installs() {
        let path = RoutePath("/v1/installs/{install_id}")
        #expect(path.match("/v1/installs/00000000-0000-0000-0000-000000000001").install == UUID(high: 0, low: 1))
        for wrong in ["/v1/installs", "/v1/installs/", "/v1/installs/7", "/v1/installs/{install_id}"] {
            #expect(!path.match(wrong).isThis, "\(wrong)")
        }
    }

    @Test("monitors have their own address for what only they ask")
    func surfaces() {
        func paths(on surface: Router.Surface) -> Set<String> {
            Set(Route.all.filter { $0.isThere(on: surface) }.map(\.path.text))
        }
        #expect(paths(on: .everything).count == Route.all.count)
        #expect(paths(on: .inside) == ["/metrics", "/healthz", "/readyz"])
        #expect(paths(on: .withoutMetrics) == paths(on: .everything).subtracting(["/metrics"]))
    }

    @Test("a script of a web page may only post events")
    func scripts() {
        #expect(Route.all.filter(\.isForScripts).map(\.path.text) == ["/v1/events"])
        #expect(Route.all.filter(\.isForScripts).allSatisfy { $0.methods == ["POST"] })
    }
}
