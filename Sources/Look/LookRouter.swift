internal import HTTPServer
internal import Postgres
internal import Reports
internal import ServiceRuntime

/// From an address to a page. Nothing here writes: of all routes only signing in takes a POST, and that stores nothing.
final class LookRouter: RequestHandler {
    private let readers: Readers
    private let hosts: HostCheck
    private let settled = SettledApps()
    private let log: Log

    init(readers: Readers, hosts: HostCheck, log: Log) {
        (self.readers, self.hosts, self.log) = (readers, hosts, log)
    }

    /// The server's own refusals.
    static func response(to fault: RequestFault) -> Response {
        LookResponse.notice(fault.status, "That did not work", ["\(fault)"])
    }

    func begin(_ head: RequestHead, _ exchange: Exchange) {
        let reply = Reply(exchange, to: head)
        guard hosts.accepts(head.header("host")) else {
            reply.send(LookResponse.notice(421, "Wrong address", [HostCheck.refusal]))
            return
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            reply.send(
                LookResponse.notice(
                    405, "These pages are only read", ["There is nothing to change here."],
                    headers: [("Allow", "GET, HEAD")]))
            return
        }
        if let file = LookResponse.file(head.path) {
            reply.send(file)
            return
        }
        let state: PageState
        do { state = try PageState(path: head.path, query: head.query) } catch {
            reply.send(LookResponse.refusing(error))
            return
        }
        show(state, reply)
    }

    private func show(_ state: PageState, _ reply: Reply) {
        let source = PageSource(settled: settled, now: WallClock.now)
        readers.submit { connection in
            let sight: Sight
            do throws(LookError) { sight = try source.sight(state, on: &connection) } catch {
                switch error {
                case .database: throw error
                case .fault(let fault): reply.send(LookResponse.refusing(fault))
                case .unknownApp(let app):
                    reply.send(
                        LookResponse.notice(
                            404, "No such app", ["There is no app '\(String(printable: app))' here."],
                            link: .init(text: "All apps", address: "/")))
                }
                return
            }
            reply.send(LookResponse.showing(sight))
        } refuse: { refusal in
            reply.send(LookResponse.refusing(refusal, state))
        }
    }
}
