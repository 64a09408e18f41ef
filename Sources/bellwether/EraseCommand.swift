internal import Console
internal import EventLog
internal import Projections
internal import Removal
internal import ServiceRuntime
internal import Values

/// Erases one install.
struct EraseCommand: Command {
    static let words = ["erase"]
    static let summary = "Erase an install from the log and every funnel; prints a receipt"
    static let options = [
        Option("app", "SLUG", help: "The app; required"),
        Option("install", "ID", help: "The install's id, 8-4-4-4-12 hexadecimal digits; required"),
        Option.format,
    ]

    private let arguments: Arguments
    private let slug: String
    private let install: UUID
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard let slug = arguments.text("app"), let id = arguments.text("install") else {
            throw UsageError("name the install: --app SLUG --install ID")
        }
        guard let install = UUID(id) else {
            throw UsageError("--install takes an id of 8-4-4-4-12 hexadecimal digits, not '\(String(printable: id))'")
        }
        (self.slug, self.install) = (slug, install)
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        let receipt = try RemovalOfInstall(database: access.url, log: log).run(install, ofApp: slug)
        switch format {
        case .text: StandardStream.output.write(text(receipt.erased, exportRows: receipt.exportRows))
        case .json: StandardStream.output.write(json(receipt.erased, exportRows: receipt.exportRows))
        }
        return .done
    }

    private func text(_ receipt: ErasureRun.Receipt, exportRows: Int) -> String {
        var text = """
            Erased install \(install) of app \(slug)
            at               \(receipt.erasure.erasedAt), as batch \(receipt.erasure.number)
            events           \(receipt.log.total)
            deliveries       \(receipt.deliveries)
            rejected events  \(receipt.log.rejected)
            drop reports     \(receipt.log.clientDrops) no longer name it
            FCM export rows  \(exportRows), of the Firebase installations that its events named

            """
        if receipt.isEmpty {
            text += "Nothing was stored about it: is the id right?\n"
        }
        text += "Events from before this moment that it still sends are rejected as 'erased'.\n"
        text += "Funnels of months that retain has dropped are sealed: they still count it, without its id.\n"
        for projection in receipt.stopped {
            text +=
                "\(projection.name) is stopped and still counts it until you run bellwether projection resume \(projection.name).\n"
        }
        return text
    }

    private func json(_ receipt: ErasureRun.Receipt, exportRows: Int) -> String {
        let stopped = receipt.stopped.map { String(json: $0.name) }.joined(separator: ",")
        return
            "{\"app\":\(String(json: slug)),\"install_id\":\"\(install)\",\"erased_at\":\"\(receipt.erasure.erasedAt)\","
            + "\"batch\":\(receipt.erasure.number),\"events\":\(receipt.log.total),\"deliveries\":\(receipt.deliveries),"
            + "\"rejected\":\(receipt.log.rejected),\"drop_reports\":\(receipt.log.clientDrops),\"fcm_export_rows\":\(exportRows),\"stopped\":[\(stopped)]}\n"
    }
}
