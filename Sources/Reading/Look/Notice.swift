internal import HTTPServer
internal import Reports
internal import ServiceRuntime

/// Why there is no page or table, in words for a person and with a code for a program.
struct Notice: Error, Sendable {
    /// The codes are part of the contract: programs act on them.
    enum Code: String, CaseIterable, Sendable {
        case invalidAddress = "invalid_address"
        case missingKey = "missing_key"
        case unknownKey = "unknown_key"
        case noKeys = "no_keys"
        case elsewhere = "not_from_here"
        case unknownPage = "unknown_page"
        case unknownApp = "unknown_app"
        case unknownTable = "unknown_table"
        case methodNotAllowed = "method_not_allowed"
        case wrongHost = "wrong_host"
        case tooManyGuesses = "too_many_guesses"
        case refused = "database_refused"
        case unavailable = "database_unavailable"
        case overloaded = "overloaded"
        case slow = "not_answered_in_time"
        case stopping = "stopping"

        var status: Int {
            switch self {
            case .invalidAddress: 400
            case .missingKey, .unknownKey: 401
            case .noKeys, .elsewhere: 403
            case .unknownPage, .unknownApp, .unknownTable: 404
            case .methodNotAllowed: 405
            case .wrongHost: 421
            case .tooManyGuesses: 429
            case .refused: 500
            case .unavailable, .overloaded, .slow, .stopping: 503
            }
        }
    }

    /// In which form somebody wants to hear it.
    enum Form: Sendable {
        case page, problem

        /// A program shows a key, asks for JSON, or says that it takes JSON and no pages.
        init(_ head: RequestHead) {
            let accepts = head.header("accept") ?? ""
            let isProgram =
                head.header("authorization") != nil || (accepts.contains("json") && !accepts.contains("text/html"))
                || (head.query ?? "").split(separator: "&").contains("format=json")
            self = isProgram ? .problem : .page
        }
    }

    let code: Code
    var title: String
    var words: [String]
    var link: Sight.Link?
    var headers: [(String, String)] = []

    func response(_ form: Form) -> Response {
        switch form {
        case .page: return LookResponse.notice(code.status, title, words, link: link, headers: headers)
        case .problem:
            let problem: JSONObject = [
                "type": "about:blank", "title": title, "status": code.status, "code": code.rawValue,
                "detail": words.joined(separator: " "),
            ]
            return Response(
                status: code.status,
                headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
                    + LookResponse.safety + headers, body: Array(problem.json.utf8))
        }
    }
}

extension Notice {
    private static let soon = [("Retry-After", "2")]
    private static let allApps = Sight.Link(text: "All apps", address: "/")
    private static let bearer = [("WWW-Authenticate", "Bearer")]

    static let missingKey = Notice(
        code: .missingKey, title: "Not signed in",
        words: ["Sign in again, or send a reader key: Authorization: Bearer KEY."], headers: bearer)
    static let unknownKey = Notice(
        code: .unknownKey, title: "This key opens nothing",
        words: ["No open reader key is this one. Perhaps it was revoked."], headers: bearer)
    static let tooManyGuesses = Notice(
        code: .tooManyGuesses, title: "Too many wrong keys", words: ["Wait a minute, then try again."],
        headers: [("Retry-After", "60")])
    static let keysUnknown = Notice(
        code: .unavailable, title: "The database is away",
        words: ["So nobody can tell now who may look. Try again soon."], headers: soon)
    static let noKeys = Notice(
        code: .noKeys, title: "There is no reader key",
        words: ["These pages are open to other machines, so they need one: bellwether look key add NAME"])
    static let wrongHost = Notice(code: .wrongHost, title: "Wrong address", words: [HostCheck.refusal])
    static let elsewhere = Notice(
        code: .elsewhere, title: "Not from here",
        words: ["Only these pages themselves ask for this. Open the address in a window of its own."])
    static let onlyRead = Notice(
        code: .methodNotAllowed, title: "These pages are only read", words: ["There is nothing to change here."],
        headers: [("Allow", "GET, HEAD")])

    /// An app that is not there, or that the key does not read: nobody can tell which.
    static func unknown(app: String) -> Notice {
        Notice(
            code: .unknownApp, title: "No such app", words: ["There is no app '\(String(printable: app))' here."],
            link: allApps)
    }

    static func unknown(table: String?) -> Notice {
        Notice(
            code: .unknownTable, title: "No such table",
            words: [
                "This page has no table of that name. The address without 'table' and with format=json lists those "
                    + "that it has."
            ])
    }

    init(_ fault: AddressFault) {
        self.init(
            code: fault.isUnknownPage ? .unknownPage : .invalidAddress,
            title: fault.isUnknownPage ? "No such page" : "This address makes no sense", words: [fault.description],
            link: Self.allApps)
    }

    init(_ refusal: Readers.Refusal, _ state: PageState) {
        let again = Sight.Link(text: "Try again", address: state.address)
        switch refusal {
        case .busy:
            self.init(
                code: .overloaded, title: "Too many pages at once",
                words: ["Others are being read just now. Try again in a few seconds."], link: again, headers: Self.soon)
        case .stopping:
            self.init(
                code: .stopping, title: "Stopping", words: ["This service is stopping."], link: again,
                headers: Self.soon)
        case .away:
            self.init(
                code: .unavailable, title: "The database is away",
                words: ["PostgreSQL cannot be reached just now. Try again soon."], link: again, headers: Self.soon)
        case .slow(let seconds):
            self.init(
                code: .slow, title: "This page takes too long",
                words: [
                    "The database had not answered after \(seconds) seconds, so the question was cancelled.",
                    "Choose fewer days, or a narrower part. For large questions use psql: bellwether psql.",
                ], link: again, headers: Self.soon)
        case .failed:
            self.init(
                code: .refused, title: "The database refused the question",
                words: [
                    "The service's log has its reason. Most often the database is not at this program's version (run "
                        + "bellwether migrate), or the login may not read as an analyst."
                ])
        }
    }
}
