internal import Accounts
internal import HTTPServer

/// Which web pages may post from a browser (CORS). None, unless the operator names them.
package struct CrossOrigin: Sendable {
    private let origins: Set<String>

    /// Exact origins such as `https://app.example`; `*` is every one.
    package init(_ origins: [String]) {
        self.origins = Set(origins)
    }

    func headers(for head: RequestHead) -> [(String, String)] {
        guard !origins.isEmpty, let origin = head.header("Origin") else { return [] }
        // A browser's script sees only those header fields of the answer that are named here.
        let exposed = ("Access-Control-Expose-Headers", "Retry-After")
        if origins.contains("*") { return [("Access-Control-Allow-Origin", "*"), exposed] }
        // The answer depends on the origin, and caches must know that.
        guard origins.contains(origin) else { return [("Vary", "Origin")] }
        return [("Access-Control-Allow-Origin", origin), ("Vary", "Origin"), exposed]
    }

    /// The answer to a browser's preflight request; nil if the request is something else.
    func preflight(_ head: RequestHead) -> Response? {
        guard !origins.isEmpty, head.header("Access-Control-Request-Method") != nil,
            let route = Route.all.first(where: { $0.path.match(head.path).isThis }), route.isForScripts
        else { return nil }
        return Response(
            status: 204,
            headers: [
                ("Access-Control-Allow-Methods", route.methods.joined(separator: ", ")),
                ("Access-Control-Allow-Headers", "Authorization, Content-Type, Content-Encoding"),
                ("Access-Control-Max-Age", "600"),
            ])
    }
}
