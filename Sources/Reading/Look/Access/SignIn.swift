internal import Accounts
internal import HTTPServer
internal import ServiceRuntime

/// From a key to a cookie. Nothing is written anywhere but in the browser.
final class SignIn: Sendable {
    static let path = "/sign-in"
    private static let mostBytes = 4096

    private let directory: ReaderDirectory
    private let limit: GuessLimit
    private let hasTLS: Bool
    private let log: Log

    init(_ directory: ReaderDirectory, limit: GuessLimit, hasTLS: Bool, log: Log) {
        (self.directory, self.limit, self.hasTLS, self.log) = (directory, limit, hasTLS, log)
    }

    /// The form.
    func show(_ head: RequestHead, _ reply: Reply) {
        let fields = (try? PercentText.fields(of: head.query ?? "")) ?? []
        let next = Self.inside(fields.first { $0.name == "next" }?.value)
        switch directory.admission {
        case .open: reply.send(LookResponse.going(to: next))
        case .unknown: reply.send(.keysUnknown)
        case .keys(let keys) where keys.isEmpty: reply.send(.noKeys)
        case .keys(let keys):
            // A browser that follows a link from a mail sends no strict cookie. It does when the form asks again.
            let isSignedIn = Session(head.header("cookie"), keys: keys, at: WallClock.now) != nil
            reply.send(
                isSignedIn
                    ? LookResponse.going(to: next) : LookResponse.page(LookDocument(signInFor: next, fault: nil).text))
        }
    }

    /// The form's answer.
    func take(_ head: RequestHead, _ exchange: Exchange, _ reply: Reply) {
        guard limit.take(head.peer) else {
            reply.send(
                LookResponse.notice(
                    429, "Too many wrong keys", ["Wait a minute, then try again."],
                    link: .init(text: "Sign in", address: Self.path), headers: [("Retry-After", "60")]))
            return
        }
        let (peer, isSecure) = (head.peer, hasTLS || head.header("x-forwarded-proto") == "https")
        exchange.readBody(upTo: Self.mostBytes) { body in
            let fields = (try? PercentText.fields(of: String(decoding: body, as: UTF8.self))) ?? []
            let value = { (name: String) in fields.first { $0.name == name }?.value }
            self.answer(value("key") ?? "", next: Self.inside(value("next")), peer, isSecure) { reply.send($0) }
        }
    }

    private func answer(
        _ secret: String, next: String, _ peer: String, _ isSecure: Bool,
        _ answer: @escaping @Sendable (Response) -> Void
    ) {
        switch directory.admission {
        case .open: return answer(LookResponse.going(to: next))
        case .unknown: return answer(Notice.keysUnknown.response(.page))
        case .keys: break
        }
        directory.find(secret) { [limit, log] key in
            guard let key else {
                return answer(
                    LookResponse.page(
                        LookDocument(signInFor: next, fault: "This key opens nothing. Perhaps it was revoked.").text,
                        status: 403))
            }
            limit.forgive(peer)
            let session = Session(of: key.name, at: WallClock.now)
            log.info("look: signed in", ["reader": key.name, "address": peer])
            answer(
                LookResponse.going(
                    to: next,
                    cookie: "\(Session.cookie)=\(session.sealed(with: key)); Path=/; Max-Age=\(Session.seconds); "
                        + "HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"))
        }
    }

    static let forgetting = "\(Session.cookie)=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"

    /// The page of ours at this address, to go on to; the first page for any other address. It is read and written
    /// anew, so nothing but a page can be meant.
    static func inside(_ address: String?) -> String {
        guard let address, address.utf8.count <= 8192 else { return "/" }
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let state = try? PageState(path: parts[0], query: parts.count > 1 ? parts[1] : nil)
        return state?.address ?? "/"
    }
}

extension LookResponse {
    static func going(to address: String, cookie: String? = nil) -> Response {
        page(
            LookDocument(notice: "Going on", [], link: .init(text: "Go on", address: address)).text, status: 303,
            headers: [("Location", address)] + (cookie.map { [("Set-Cookie", $0)] } ?? []))
    }
}
