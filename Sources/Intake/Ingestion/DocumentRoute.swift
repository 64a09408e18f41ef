internal import Accounts
internal import HTTPServer
internal import Postgres
internal import Registry
internal import ServiceRuntime

extension Route {
    /// `PUT` of a document of the registry, which an app's server sends whole. `register` runs on the request worker's
    /// connection, since reading a document takes milliseconds, too long for the thread that serves all connections. It
    /// is told whether other databases must have the rows, too.
    static func document(
        _ subject: String, at path: String, _ summary: String,
        _ register:
            @escaping @Sendable (Unpacked, inout Connection, _ isShared: Bool) throws(PostgresError)
            -> Destinations.Table.Shared
    ) -> Route {
        let demands = Demands(
            keys: [.server],
            wrongKind:
                "\(subject) are registered with a server key ('bellwether app key add SLUG --server'); "
                + "this is a write key.",
            body: .json([.json], upTo: RegistryLimits.document))
        return Route("PUT", path, subject, summary, demands) { intake in
            { request in
                intake.destinations.table.share(of: request.access.app, bytes: request.body.count) {
                    connection, isShared throws(PostgresError) in
                    try register(request, &connection, isShared)
                } answer: {
                    request.answer.send($0)
                }
            }
        }
    }
}

extension Problem {
    /// Why a document of the registry was refused; `code` is that of its subject.
    init(_ error: RegistryDocumentError, _ code: Code) {
        switch error {
        case .tooLarge:
            self.init(.unpackedTooLarge, "At most \(RegistryLimits.document) bytes.")
        case .notJSON(let reason): self.init(.notJSON, reason)
        case .notAnObject(let kind): self.init(.notAnObject, "The document must be an object, not \(kind).")
        case .invalid(let errors, let more):
            let count = errors.count + more
            self.init(
                code,
                "\(count) \(count == 1 ? "error" : "errors"); nothing was registered. The first: \(errors.first?.description ?? "")"
            )
            self.errors = errors
        }
    }
}
