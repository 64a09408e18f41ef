internal import Accounts
internal import HTTPServer
internal import Values

/// A route as it is declared, in the file that answers it. The router, `Allow`, the answers to browsers' preflights, its
/// operation in `/openapi.yaml` (`OpenAPIDocument`) and its line in `Docs/API.md` follow from it.
struct Route: Sendable {
    /// All routes; the one that is asked most comes first.
    static let all: [Route] = [
        .events, .sends, .categories, .experiments, .installs, .health, .readiness, .metrics, .description, .schema,
    ]

    /// Whose address it is on, where monitors have their own.
    enum Audience { case clients, monitors, both }

    enum Work: Sendable {
        /// Anybody may ask, and is answered at once.
        case page(@Sendable (Pages) -> Response)
        /// Takes a key, and work that ends in the database. The function is called once for each process, and what it
        /// returns once for each request that meets the demands.
        case keyed(Demands, @Sendable (Intake) -> @Sendable (Unpacked) -> Void)
    }

    let path: RoutePath
    let methods: [String]
    /// What is asked or sent, as in the name of its operation: "Events" of `postEvents`.
    let name: String
    /// What it does, in a few words.
    let summary: String
    let audience: Audience
    /// Whether scripts of web pages may use it (CORS), if the operator names their origins.
    let isForScripts: Bool
    let work: Work

    /// A page.
    init(
        get path: String, _ name: String, _ summary: String, for audience: Audience = .clients,
        _ response: @escaping @Sendable (Pages) -> Response
    ) {
        self.path = RoutePath(path)
        (self.name, self.summary) = (name, summary)
        self.audience = audience
        methods = ["GET", "HEAD"]
        isForScripts = false
        work = .page(response)
    }

    /// A route with a key.
    init(
        _ method: String, _ path: String, _ name: String, _ summary: String, isForScripts: Bool = false,
        _ demands: Demands, _ work: @escaping @Sendable (Intake) -> @Sendable (Unpacked) -> Void
    ) {
        self.path = RoutePath(path)
        (self.name, self.summary) = (name, summary)
        self.isForScripts = isForScripts
        methods = [method]
        audience = .clients
        self.work = .keyed(demands, work)
    }

    func isThere(on surface: Router.Surface) -> Bool {
        switch surface {
        case .everything: true
        case .inside: audience != .clients
        case .withoutMetrics: audience != .monitors
        }
    }
}

/// What a route demands of a request before it is answered. `Reception` checks it.
struct Demands: Sendable {
    enum Body: Sendable {
        /// JSON of these types, with at most so many bytes after unpacking.
        case json([MediaType], upTo: Int)
        /// Nothing is read of it, but some clients send an empty object along.
        case ignored(upTo: Int)

        /// The most bytes of it on the wire.
        var wireLimit: Int {
            switch self {
            case .json: 1024 * 1024
            case .ignored(let limit): limit
            }
        }

        var unpackedLimit: Int {
            switch self {
            case .json(_, let limit), .ignored(let limit): limit
            }
        }
    }

    /// The kinds of keys that it takes, the usual one first, and the answer to a key of another kind.
    let keys: [APIKey.Kind]
    var wrongKind = ""
    let body: Body
    /// Whether it counts against the app's rate limit.
    var isLimited = false
    /// Whether it stores when a request was received, so that the clock must be right.
    var storesTime = false
}

/// The path of a route, as in the description. It may end in the id of an install: `/v1/installs/{install_id}`.
struct RoutePath: Sendable {
    let text: String
    /// What comes before the id; nil if there is none.
    private let prefix: String?

    var namesInstall: Bool { prefix != nil }

    init(_ text: String) {
        self.text = text
        prefix = text.firstIndex(of: "{").map { String(text[..<$0]) }
    }

    /// Whether a request's path is this one, and the install that it names.
    func match(_ path: String) -> (isThis: Bool, install: UUID?) {
        guard let prefix else { return (path == text, nil) }
        guard path.hasPrefix(prefix), let install = UUID(String(path.dropFirst(prefix.count))) else {
            return (false, nil)
        }
        return (true, install)
    }
}
