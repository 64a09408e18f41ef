internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import ServiceRuntime
internal import Values

/// `DELETE /v1/installs/ID`: has an install erased, for the person who asked the app for it. Only stores the wish: who
/// may take events may not delete any. The owner's process performs it (`RequestedErasures`).
package final class InstallsRoute: Sendable {
    private let check: KeyCheck
    private let destinations: Destinations
    private let isDraining: @Sendable () -> Bool

    package init(keys: KeyDirectory, destinations: Destinations, isDraining: @escaping @Sendable () -> Bool) {
        check = KeyCheck(
            keys: keys, kinds: [.server],
            wrongKind:
                "Installs are erased with a server key ('bellwether app key add SLUG --server'); this is a write key."
        )
        self.destinations = destinations
        self.isDraining = isDraining
    }

    func begin(_ head: RequestHead, of install: UUID, _ answer: Answer) {
        check.check(head, answer) { [self] access, secret in
            guard !isDraining() else { return answer.send(Problem(RequestFault.draining)) }
            let proof = APIKeys.erasureProof(of: secret).bytes
            // There is none. But to ask for it shows the server that the key is a good one, so this client does not
            // wait with strangers.
            answer.readBody(upTo: Self.mostBody) { [self] _ in
                // All cells forget it, and the first one has the list.
                destinations.table.share(of: access.app, bytes: 256) { connection, _ throws(PostgresError) in
                    let state = try ErasureRequest.submit(install, key: access.key, proof: proof, on: &connection)
                    return (state.response(of: install, app: access.slug), [])
                } answer: {
                    answer.send($0)
                }
            }
        }
    }

    /// Some clients send an empty object along.
    private static let mostBody = 1024
}

extension ErasureRequest.State {
    fileprivate func response(of install: UUID, app: String) -> Response {
        switch self {
        case .erased(let receipt): Self.json(200, receipt)
        case .waiting(let since):
            Self.json(
                202,
                JSONObject([
                    ("app", app), ("install_id", "\(install)"), ("state", "waiting"), ("requested_at", "\(since)"),
                ]).json, [("Retry-After", "5")])
        case .full:
            Problem(
                .rateLimited,
                "\(ErasureRequest.most) installs of the app wait to be erased. "
                    + "Ask again, unchanged, after Retry-After.",
                retryAfter: 60
            ).response
        }
    }

    private static func json(_ status: Int, _ text: String, _ headers: [(String, String)] = []) -> Response {
        Response(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: Array((text + "\n").utf8))
    }
}
