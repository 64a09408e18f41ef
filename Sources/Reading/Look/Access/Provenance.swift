internal import HTTPServer

/// Which site makes a browser ask. A page that anybody on this machine may open must not be kept busy by a web site
/// that one of them happens to visit, and no site may sign people in or out.
enum Provenance: Sendable {
    /// Our own pages, the address bar, a bookmark, a program; all that is not known to be another site.
    case own
    /// A link on another site that opens a whole window. It may be from a chat, or followed by a script.
    case link
    /// Another site, for a part of its own page: an image, a frame, a script, a form.
    case elsewhere

    init(_ head: RequestHead) {
        let host = head.header("host")?.lowercased()
        let isRead = head.method == "GET" || head.method == "HEAD"
        switch head.header("sec-fetch-site") {
        case "same-origin"?, "none"?:
            // A form of ours says its origin, too.
            self = isRead || Self.agrees(head.header("origin"), with: host) ? .own : .elsewhere
        case .some:
            let isWindow = head.header("sec-fetch-mode") == "navigate" && head.header("sec-fetch-dest") == "document"
            self = isRead && isWindow ? .link : .elsewhere
        case nil:
            // Browsers of before 2023, and all of them where the address is neither HTTPS nor this machine.
            guard Self.agrees(head.header("origin"), with: host) else {
                self = .elsewhere
                return
            }
            guard !Self.agrees(head.header("referer"), with: host) else {
                self = .own
                return
            }
            self = isRead && head.header("accept")?.contains("text/html") == true ? .link : .elsewhere
        }
    }

    /// Whether an address, if there is one, is of this host: `https://look.example:8081/app/shop`.
    private static func agrees(_ address: String?, with host: String?) -> Bool {
        guard let address else { return true }
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count >= 3 && parts[2].lowercased() == host
    }
}

extension LookResponse {
    /// Asks nothing of the database. Following its link is a request of our own page, which only a person can make.
    static func visit(_ head: RequestHead) -> Response {
        let address = SignIn.inside(head.path + (head.query.map { "?" + $0 } ?? ""))
        return notice(
            200, "A link from another site",
            [
                "Another web site leads here. Its pages may lead browsers anywhere, "
                    + "so nothing is read before you say so."
            ],
            link: .init(text: "Open the page", address: address))
    }
}
