internal import BellwetherVersion
internal import Compression
internal import HTTPServer
internal import Reports
internal import ServiceRuntime

/// Answers one request, in the form that its browser accepts.
struct Reply: Sendable {
    private let exchange: Exchange
    private let takesGzip: Bool
    /// What is noted of it, if it is for a key.
    var use: KeyUse?

    init(_ exchange: Exchange, to head: RequestHead) {
        self.exchange = exchange
        takesGzip = head.header("accept-encoding")?.contains("gzip") ?? false
    }

    /// Whether nobody waits for it any more.
    var hasBeenLeft: Bool { exchange.hasBeenLeft }

    /// Pages are mostly markup, which packs to a sixth. They hold nothing that a stranger chose beside a secret.
    func send(_ response: Response) {
        use?.note(response.status)
        guard takesGzip, response.body.count > 1024 else {
            exchange.respond(response)
            return
        }
        exchange.respond(
            Response(
                status: response.status,
                headers: response.headers + [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")],
                body: gzip(response.body)))
    }
}

/// The answers of the pages, all with the header fields that keep a browser from doing more than showing them.
enum LookResponse {
    static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    static let safety = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    static func page(
        _ text: String, status: Int = 200, headers: [(String, String)] = [], policy: String = policy
    ) -> Response {
        Response(
            status: status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
                ("Cache-Control", "no-store"),
            ] + safety + headers, body: Array(text.utf8))
    }

    /// The process lives.
    static let healthy = Response(
        status: 200, headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")] + safety,
        body: Array("ok \(BellwetherVersion.number)\n".utf8))

    static func notice(
        _ status: Int, _ title: String, _ words: [String], link: Sight.Link? = nil, refreshes: Int? = nil,
        headers: [(String, String)] = []
    ) -> Response {
        page(
            LookDocument(notice: title, words, link: link, refreshes: refreshes).text, status: status, headers: headers)
    }

    // MARK: While a page is read

    static let cancelPath = "/cancel"

    /// `ahead` is how many pages are read just now.
    static func reading(_ reading: Reading, ahead: Int, givenUpAfter most: Double) -> Response {
        let seconds = Int64((Deadline.now.nanoseconds - reading.began.nanoseconds) / 1_000_000_000)
        let so = seconds < 1 ? "" : ", for \(Wording.count(seconds, "second", "seconds")) so far"
        let what =
            reading.hasBegun
            ? "PostgreSQL is reading what this page shows\(so)."
            : "This page waits for its turn\(so): "
                + "\(Wording.count(Int64(ahead), "other page is", "other pages are")) being read."
        return notice(
            202, "Still reading",
            [what, "The page comes by itself as soon as it is there. After \(Int(most)) seconds it is given up."],
            link: .init(text: "Cancel", address: "\(cancelPath)?page=\(reading.id)"), refreshes: 1)
    }

    static func cancelled(_ address: String) -> Response {
        notice(
            200, "Cancelled", ["The database was told to stop reading this page."],
            link: .init(text: "Read it after all", address: address))
    }

    static let nothingToCancel = notice(
        404, "Nothing to cancel", ["This page is not being read any more."], link: .init(text: "All apps", address: "/")
    )

    /// A page, or one table of it.
    static func showing(_ sight: Sight, isSignedIn: Bool = false) -> Response {
        if let document = sight.document { return page(document, policy: Told.policy(for: document)) }
        guard sight.state.format == .csv else {
            return page(LookDocument(sight, isSignedIn: isSignedIn).text)
        }
        guard let name = sight.state.table, let answer = sight.answer(named: name) else {
            return notice(404, "No such table", ["This page has no table of that name."])
        }
        let file =
            ([sight.state.app, sight.state.page.rawValue, name].compactMap(\.self) + [sight.scope?.days.description])
            .compactMap(\.self).joined(separator: "-").replacing(" ", with: "-")
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/csv; charset=utf-8; header=present"),
                ("Content-Disposition", "attachment; filename=\"\(file).csv\""), ("Cache-Control", "no-store"),
                ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ] + safety, body: Array(answer.csv.utf8))
    }

    static func refusing(_ fault: AddressFault) -> Response {
        notice(
            fault.isUnknownPage ? 404 : 400, fault.isUnknownPage ? "No such page" : "This address makes no sense",
            [fault.description], link: .init(text: "All apps", address: "/"))
    }

    static func refusing(_ refusal: Readers.Refusal, _ state: PageState) -> Response {
        let again = Sight.Link(text: "Try again", address: state.address)
        let retry = [("Retry-After", "2")]
        switch refusal {
        case .busy:
            return notice(
                503, "Too many pages at once", ["Others are being read just now. Try again in a few seconds."],
                link: again,
                headers: retry)
        case .stopping:
            return notice(503, "Stopping", ["This service is stopping."], link: again, headers: retry)
        case .away:
            return notice(
                503, "The database is away", ["PostgreSQL cannot be reached just now. Try again soon."], link: again,
                headers: retry)
        case .slow(let seconds):
            return notice(
                503, "This page takes too long",
                [
                    "The database had not answered after \(seconds) seconds, so the question was cancelled.",
                    "Choose fewer days, or a narrower part. For large questions use psql: bellwether psql.",
                ], link: again, headers: retry)
        case .failed:
            return notice(
                500, "The database refused the question",
                [
                    "The service's log has its reason. "
                        + "Most often the database is not at this program's version (run bellwether "
                        + "migrate), or the login may not read as an analyst."
                ])
        }
    }

    /// The style sheet and the script. Their addresses change with their texts, so a browser may keep them; at the
    /// address of another version, which another process may serve, it may not.
    static func file(_ path: String, query: String?) -> Response? {
        let (type, text, address): (String, String, String)
        switch path {
        case "/look.css": (type, text, address) = ("text/css; charset=utf-8", LookStyle.text, LookStyle.address)
        case "/look.js": (type, text, address) = ("text/javascript; charset=utf-8", LookScript.text, LookScript.address)
        case "/robots.txt": (type, text, address) = ("text/plain", "User-agent: *\nDisallow: /\n", "")
        default: return nil
        }
        let isThis = query.map { "\(path)?\($0)" == address } ?? false
        return Response(
            status: 200,
            headers: [
                ("Content-Type", type),
                ("Cache-Control", isThis ? "public, max-age=31536000, immutable" : "public, max-age=60"),
            ] + safety,
            body: Array(text.utf8))
    }
}
