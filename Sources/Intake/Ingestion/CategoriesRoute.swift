internal import Accounts
internal import HTTPServer
internal import Postgres
internal import Registry

extension Route {
    /// `PUT /v1/categories`: registers the categories of the app that the server key belongs to.
    static let categories = document(
        "Categories", at: "/v1/categories", "Register the app's notification categories"
    ) {
        request, connection, isShared throws(PostgresError) in
        let document: CategoryDocument
        do throws(RegistryDocumentError) { document = try CategoryDocument(request.body) } catch {
            return (Problem(error, .invalidCategories).response, [])
        }
        let access = request.access
        let registration = try Registrar.register(document, of: access.app, key: access.key, on: &connection)
        let rows =
            isShared ? try Registrar.rows(ofEdition: registration.edition, of: access.app, on: &connection) : []
        return (Response(json: registration.json), rows)
    }
}
