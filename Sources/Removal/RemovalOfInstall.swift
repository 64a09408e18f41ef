internal import Accounts
package import Projections
internal import Sends
package import ServiceRuntime
package import Values

/// Erasure: an install goes from everywhere. Its events and its part of the funnels first, which say what of Firebase's export
/// was its own; then that.
package struct RemovalOfInstall: Sendable {
    /// What went.
    package struct Receipt: Sendable {
        package let erased: ErasureRun.Receipt
        package let exportRows: Int
    }

    private let url: String
    private let log: Log

    package init(database url: String, log: Log) {
        self.url = url
        self.log = log
    }

    package func run(_ install: UUID, ofApp slug: String) throws -> Receipt {
        var connection = try LogSession.open(url: url, role: nil, purpose: "erasure", log: log)
        let app = try Apps.named(slug, on: &connection)
        let erased = try ErasureRun(ProjectionControl(url: url, log: log)).run(app: app.id, install: install)
        return Receipt(erased: erased, exportRows: try FCMExportStore.forgetErased(of: app.id, on: &connection))
    }
}
