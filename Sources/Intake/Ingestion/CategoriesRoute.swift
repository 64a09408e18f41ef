internal import Accounts
internal import HTTPServer
internal import Postgres
internal import Registry
internal import ServiceRuntime

/// `PUT /v1/categories`: registers the categories of the app that the server key belongs to.
package final class CategoriesRoute: Sendable {
    private let admission: Admission
    private let destinations: Destinations

    package init(
        keys: KeyDirectory, decoding: Decoding, destinations: Destinations, isDraining: @escaping @Sendable () -> Bool
    ) {
        admission = Admission(
            keys: keys, decoding: decoding, kinds: [.server],
            wrongKind:
                "Categories are registered with a server key ('bellwether app key add SLUG --server'); "
                + "this is a write key.",
            unpackedLimit: RegistryLimits.document, isDraining: isDraining)
        self.destinations = destinations
    }

    func begin(_ head: RequestHead, _ answer: Answer) {
        admission.admit(head, answer) { [destinations] body, access, _ in
            destinations.table.share(of: access.app, bytes: body.count) { connection, isShared throws(PostgresError) in
                // Reading a document takes milliseconds, too long for the thread that serves all connections.
                let document: CategoryDocument
                do throws(RegistryDocumentError) { document = try CategoryDocument(body) } catch {
                    return (Problem(error, .invalidCategories).response, [])
                }
                let registration = try Registrar.register(document, of: access.app, key: access.key, on: &connection)
                let rows =
                    isShared
                    ? try Registrar.rows(ofEdition: registration.edition, of: access.app, on: &connection) : []
                return (registration.response, rows)
            } answer: {
                answer.send($0)
            }
        }
    }
}

extension Registration {
    fileprivate var response: Response {
        Response(status: 200, headers: [("Content-Type", "application/json")], body: Array((json + "\n").utf8))
    }
}
