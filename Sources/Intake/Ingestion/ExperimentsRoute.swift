internal import Accounts
internal import HTTPServer
internal import Postgres
internal import Registry
internal import ServiceRuntime

/// `PUT /v1/experiments`: registers experiments of the app that the server key belongs to.
package final class ExperimentsRoute: Sendable {
    private let admission: Admission
    private let destinations: Destinations

    package init(
        keys: KeyDirectory, decoding: Decoding, destinations: Destinations, isDraining: @escaping @Sendable () -> Bool
    ) {
        admission = Admission(
            keys: keys, decoding: decoding, kinds: [.server],
            wrongKind:
                "Experiments are registered with a server key ('bellwether app key add SLUG --server'); this is a write key.",
            unpackedLimit: RegistryLimits.document, isDraining: isDraining)
        self.destinations = destinations
    }

    func begin(_ head: RequestHead, _ answer: Answer) {
        admission.admit(head, answer) { [destinations] body, access, _ in
            destinations.table.share(of: access.app, bytes: body.count) { connection, isShared throws(PostgresError) in
                let document: ExperimentDocument
                do throws(RegistryDocumentError) { document = try ExperimentDocument(body) } catch {
                    return (Problem(error, .invalidExperiments).response, [])
                }
                let outcome = try ExperimentRegistry.register(
                    document.experiments, of: access.app, key: access.key, on: &connection)
                switch outcome {
                case .refused(let remarks):
                    let told = Array(remarks.prefix(RegistryLimits.errors))
                    let error = RegistryDocumentError.invalid(told, more: remarks.count - told.count)
                    return (Problem(error, .invalidExperiments).response, [])
                case .registered(let experiments):
                    let now = try ExperimentRegistry.now(on: &connection)
                    let rows =
                        isShared ? try ExperimentRegistry.rows(of: experiments, of: access.app, on: &connection) : []
                    let object: JSONObject = ["experiments": experiments.map { $0.json(at: now) }]
                    return (
                        Response(
                            status: 200, headers: [("Content-Type", "application/json")],
                            body: Array((object.json + "\n").utf8)), rows
                    )
                }
            } answer: {
                answer.send($0)
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
