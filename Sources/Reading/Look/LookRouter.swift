internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// From an address to a page. Nothing here writes: only signing in and signing out take a POST, and they store nothing.
final class LookRouter: RequestHandler {
    private let readers: Readers
    private let pages: PagesInProgress
    private let feed: LiveFeed
    private let directory: ReaderDirectory
    private let door: Doorkeeper
    private let signIn: SignIn
    private let hosts: HostCheck
    private let settled = SettledApps()
    private let log: Log

    init(
        readers: Readers, pages: PagesInProgress, feed: LiveFeed, directory: ReaderDirectory, hosts: HostCheck,
        hasTLS: Bool, log: Log
    ) {
        (self.readers, self.pages, self.feed, self.directory) = (readers, pages, feed, directory)
        // Who tries keys is told so by both.
        let limit = GuessLimit()
        door = Doorkeeper(directory, limit)
        signIn = SignIn(directory, limit: limit, hasTLS: hasTLS, log: log)
        (self.hosts, self.log) = (hosts, log)
    }

    /// The server's own refusals.
    static func response(to fault: RequestFault) -> Response {
        LookResponse.notice(fault.status, "That did not work", ["\(fault)"])
    }

    func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
        reply(to: head, exchange)
        return .wait
    }

    private func reply(to head: RequestHead, _ exchange: Exchange) {
        let reply = Reply(exchange, to: head)
        // A monitor of the process knows neither its names nor a key.
        if head.path == "/healthz", head.method == "GET" || head.method == "HEAD" {
            return reply.send(LookResponse.healthy)
        }
        // Only where no key is asked for: a page of another name has no cookie of this one.
        if case .open = directory.admission, !hosts.accepts(head.header("host")) {
            return reply.send(.wrongHost)
        }
        switch Provenance(head) {
        case .own: break
        case .link: return reply.send(LookResponse.visit(head))
        case .elsewhere: return reply.send(.elsewhere)
        }
        if head.method == "POST", head.path == SignIn.path { return signIn.take(head, exchange, reply) }
        if head.method == "POST", head.path == Session.endPath {
            return reply.send(LookResponse.going(to: "/", cookie: SignIn.forgetting))
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return reply.send(.onlyRead)
        }
        switch head.path {
        case SignIn.path: signIn.show(head, reply)
        case Session.endPath:
            reply.send(
                LookResponse.notice(
                    405, "Sign out with the button", ["Each page has it at its top."],
                    link: .init(text: "All apps", address: "/"), headers: [("Allow", "POST")]))
        default:
            if let file = LookResponse.file(head.path, query: head.query) { return reply.send(file) }
            look(head, reply)
        }
    }

    /// For readers who are signed in or show a key, or for all if there is no key.
    private func look(_ head: RequestHead, _ reply: Reply) {
        let isFeed = head.path.hasSuffix("/live\(PageState.feed)")
        door.admit(head) { admission in
            do throws(Notice) { self.look(head, reply, for: try admission.get(), isFeed: isFeed) } catch {
                // A person is led to the form.
                guard error.code == .missingKey, case .page = reply.form, !isFeed else { return reply.send(error) }
                let next = PercentText.encoded(SignIn.inside(head.path + (head.query.map { "?" + $0 } ?? "")))
                reply.send(LookResponse.going(to: "\(SignIn.path)?next=\(next)"))
            }
        }
    }

    private func look(_ head: RequestHead, _ reply: Reply, for viewer: Viewer, isFeed: Bool) {
        var reply = reply
        reply.use = viewer.key.map { KeyUse(key: $0, path: head.path, isFeed: isFeed, log: log) }
        if head.path == LookResponse.cancelPath { return cancel(head.query ?? "", reply) }
        let state: PageState
        do {
            let path = isFeed ? String(head.path.dropLast(PageState.feed.count)) : head.path
            state = try PageState(path: path, query: head.query)
        } catch { return reply.send(Notice(error)) }
        if isFeed {
            let last = head.header("last-event-id").flatMap { LogPosition($0) }
            feed.wait(after: last ?? state.position, LivePage.filter(state), of: viewer.apps, reply)
        } else {
            show(state, reply, for: viewer)
        }
    }

    private func show(_ state: PageState, _ reply: Reply, for viewer: Viewer) {
        // A browser shows by itself that a file is on its way.
        guard state.format == .html else {
            let reading = Reading()
            return read(state, reading, for: viewer, reply.form) { response in reply.send(response) }
        }
        let name = PagesInProgress.Name(address: state.address, isSignedIn: viewer.isSignedIn, apps: viewer.apps)
        guard let reading = pages.join(name, reply) else { return }
        read(state, reading, for: viewer, .page) { response in self.pages.finish(name, reading, response) }
    }

    /// Leads to one answer, unless the reading is cancelled.
    private func read(
        _ state: PageState, _ reading: Reading, for viewer: Viewer, _ form: Notice.Form,
        answer: @escaping @Sendable (Response) -> Void
    ) {
        let source = PageSource(settled: settled, apps: viewer.apps, now: WallClock.now)
        readers.submit(reading, of: viewer.apps) { connection in
            do throws(LookError) {
                let sight = try source.sight(state, on: &connection)
                do throws(Notice) { answer(try LookResponse.showing(sight, isSignedIn: viewer.isSignedIn)) } catch {
                    answer(error.response(form))
                }
            } catch {
                switch error {
                case .database: throw error
                case .fault(let fault): answer(Notice(fault).response(form))
                case .unknownApp(let app): answer(Notice.unknown(app: app).response(form))
                }
            }
        } refuse: { refusal in
            answer(Notice(refusal, state).response(form))
        }
    }

    /// Only who was shown the page that is being read knows its id.
    private func cancel(_ query: String, _ reply: Reply) {
        let fields = (try? PercentText.fields(of: query)) ?? []
        let address = fields.first { $0.name == "page" }.flatMap { UUID($0.value) }.flatMap(pages.cancel)
        reply.send(address.map(LookResponse.cancelled) ?? LookResponse.nothingToCancel)
    }
}
