internal import BellwetherVersion
internal import Compression
internal import HTTPServer
internal import Reports
internal import ServiceRuntime

/// Answers one request, in the form that its browser accepts.
struct Reply: Sendable {
    private let exchange: Exchange
    private let takesGzip: Bool
    /// In which form errors are told.
    let form: Notice.Form
    /// What the browser or program has already.
    private let known: [Substring]
    /// What is noted of it, if it is for a key.
    var use: KeyUse?

    init(_ exchange: Exchange, to head: RequestHead) {
        self.exchange = exchange
        takesGzip = head.header("accept-encoding")?.contains("gzip") ?? false
        form = Notice.Form(head)
        known = (head.header("if-none-match") ?? "").split(separator: ",").map { $0.trimming(while: { $0 == " " }) }
    }

    /// Whether nobody waits for it any more.
    var hasBeenLeft: Bool { exchange.hasBeenLeft }

    /// Pages are mostly markup, which packs to a sixth. They hold nothing that a stranger chose beside a secret.
    func send(_ notice: Notice) { send(notice.response(form)) }

    func send(_ whole: Response) {
        let response = known.isEmpty ? whole : unlessKnown(whole)
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

extension Reply {
    /// Without a body if it is what was had before. Tags are compared as weak ones: packed or not, it is the same
    /// table.
    private func unlessKnown(_ response: Response) -> Response {
        guard response.status == 200, let tag = response.headers.first(where: { $0.0 == "ETag" })?.1,
            known.contains(where: { $0 == "*" || $0.trimmingPrefix("W/") == tag.trimmingPrefix("W/") })
        else { return response }
        return Response(
            status: 304, headers: response.headers.filter { ["ETag", "Cache-Control"].contains($0.0) }, body: [])
    }
}

extension Substring {
    fileprivate func trimming(while isBlank: (Character) -> Bool) -> Substring {
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
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
    static func showing(_ sight: Sight, isSignedIn: Bool = false) throws(Notice) -> Response {
        let state = sight.state
        if state.format != .json, let document = sight.document {
            return page(document, policy: Told.policy(for: document))
        }
        switch state.format {
        case .html: return page(LookDocument(sight, isSignedIn: isSignedIn).text)
        case .csv:
            guard let answer = sight.asked else { throw .unknown(table: state.table) }
            return csv(answer, of: sight)
        case .json:
            if state.table == nil { return json(TableIndex(sight: sight).text) }
            guard let answer = sight.asked, let facts = sight.facts else { throw .unknown(table: state.table) }
            let table = TableJSON(sight: sight, answer: answer, facts: facts).text
            return json(table, tag: TableJSON.tag(of: table, at: facts.position))
        }
    }

    private static func csv(_ answer: Answer, of sight: Sight) -> Response {
        let file =
            ([sight.state.app, sight.state.page.rawValue, answer.listing.name].compactMap(\.self)
            + [sight.scope?.days.description]).compactMap(\.self).joined(separator: "-").replacing(" ", with: "-")
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/csv; charset=utf-8; header=present"),
                ("Content-Disposition", "attachment; filename=\"\(file).csv\""), ("Cache-Control", "no-store"),
                ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ] + safety, body: Array(answer.csv.utf8))
    }

    /// Whoever has it asks each time whether it is still what it was.
    private static func json(_ text: String, tag: String? = nil) -> Response {
        Response(
            status: 200,
            headers: [
                ("Content-Type", "application/json"),
                ("Cache-Control", tag == nil ? "no-store" : "private, no-cache"),
                ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ] + safety + (tag.map { [("ETag", $0)] } ?? []), body: Array(text.utf8))
    }

    /// The style sheet and the script. Their addresses change with their texts, so a browser may keep them; at the
    /// address of another version, which another process may serve, it may not.
    static func file(_ path: String, query: String?) -> Response? {
        let (type, text, address): (String, String, String)
        switch path {
        case "/look.css": (type, text, address) = ("text/css; charset=utf-8", LookStyle.text, LookStyle.address)
        case "/look.js": (type, text, address) = ("text/javascript; charset=utf-8", LookScript.text, LookScript.address)
        case LookDescription.path: (type, text, address) = ("application/yaml", LookDescription.text, "")
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
