internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import ServiceRuntime
internal import Values

extension Route {
    /// `DELETE /v1/installs/ID`: has an install erased, for the person who asked the app for it. Only stores the wish:
    /// who may take events may not delete any. The owner's process performs it (`RequestedErasures`).
    static let installs = Route(
        "DELETE", "/v1/installs/{install_id}", "Install", "Have an install erased",
        Demands(
            keys: [.server],
            wrongKind:
                "Installs are erased with a server key ('bellwether app key add SLUG --server'); this is a write key.",
            body: .ignored(upTo: 1024))
    ) { intake in { request in erase(request, in: intake.destinations.table) } }

    /// For how many seconds the answer waits for the receipt: long enough for a small log, and less than a client waits.
    /// After that it is a 202.
    private static let patience = 5.0

    private static func erase(_ request: Unpacked, in table: Destinations.Table) {
        guard let install = request.install else { return }
        let access = request.access
        let proof = APIKeys.erasureProof(of: request.secret).bytes
        // All cells forget it, and the first one has the list.
        table.share(of: access.app, bytes: 256, patience: patience) { connection, _ throws(PostgresError) in
            let state = try ErasureRequest.submit(install, key: access.key, proof: proof, on: &connection)
            return (state.response(of: install, app: access.slug), [])
        } answer: {
            request.answer.send($0)
        }
    }
}

extension ErasureRequest.State {
    fileprivate func response(of install: UUID, app: String) -> Response {
        switch self {
        case .erased(let receipt): Response(json: receipt)
        case .waiting(let since):
            Response(
                202,
                json: JSONObject([
                    ("app", app), ("install_id", "\(install)"), ("state", "waiting"), ("requested_at", "\(since)"),
                ]).json, headers: [("Retry-After", "5")])
        case .full:
            Problem(
                .rateLimited,
                "\(ErasureRequest.most) installs of the app wait to be erased. "
                    + "Ask again, unchanged, after Retry-After.",
                retryAfter: 60
            ).response
        }
    }
}
