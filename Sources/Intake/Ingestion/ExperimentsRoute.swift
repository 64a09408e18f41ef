internal import Accounts
internal import HTTPServer
internal import Postgres
internal import Registry
internal import ServiceRuntime

extension Route {
    /// `PUT /v1/experiments`: registers experiments of the app that the server key belongs to.
    static let experiments = document(
        "Experiments", at: "/v1/experiments", "Register experiments of the app"
    ) {
        request, connection, isShared throws(PostgresError) in
        let document: ExperimentDocument
        do throws(RegistryDocumentError) { document = try ExperimentDocument(request.body) } catch {
            return (Problem(error, .invalidExperiments).response, [])
        }
        let access = request.access
        let outcome = try ExperimentRegistry.register(
            document.experiments, of: access.app, key: access.key, on: &connection)
        switch outcome {
        case .refused(let remarks):
            let told = Array(remarks.prefix(RegistryLimits.errors))
            let error = RegistryDocumentError.invalid(told, more: remarks.count - told.count)
            return (Problem(error, .invalidExperiments).response, [])
        case .registered(let experiments):
            let now = try ExperimentRegistry.now(on: &connection)
            let rows = isShared ? try ExperimentRegistry.rows(of: experiments, of: access.app, on: &connection) : []
            let object: JSONObject = ["experiments": experiments.map { $0.json(at: now) }]
            return (Response(json: object.json), rows)
        }
    }
}
