internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import Removal
internal import Sends
internal import ServiceRuntime
internal import Values

/// Drops old months.
struct RetainCommand: Command {
    static let words = ["retain"]
    static let summary = "Drop months of events older than N days; their counts stay in the funnels"
    static let options = [
        Option(
            "days", "N",
            help:
                "Keep events that occurred or were received within so many days, and none for more than twice as long; required"
        ),
        Option.format,
    ]

    private let arguments: Arguments
    private let days: Int
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard arguments.has("days") else { throw UsageError("say how many days to keep: --days N") }
        days = try arguments.number("days", in: 1...36_500, default: 0)
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        let gone = try RemovalByAge(database: access.url, log: log).run(keeping: days) { outcome in
            if case .text = format { StandardStream.output.write(sentence(outcome)) }
        }
        let (outcomes, remainder, exportRows) = (gone.months, gone.remainder, gone.exportRows)
        switch format {
        case .text:
            if outcomes.isEmpty && remainder.isEmpty {
                StandardStream.output.write(
                    "Nothing to drop: every month has an event that occurred or was received in the last \(days) days, or ended within them.\n"
                )
            }
            if remainder.strays > 0 || remainder.sealed > 0 {
                StandardStream.output.write(
                    "Events whose clock belongs to no month, received over \(days) days ago: \(remainder.strays) dropped; deliveries sealed: \(remainder.sealed).\n"
                )
            }
            if remainder.refused > 0 {
                StandardStream.output.write(
                    "Rejected events received over \(days) days ago: \(remainder.refused) dropped; data_quality keeps their counts.\n"
                )
            }
            if exportRows > 0 {
                StandardStream.output.write(
                    "Rows of FCM's export dropped: \(exportRows); campaign_funnel keeps their counts.\n")
            }
        case .json:
            var items = outcomes.map {
                "{\"month\":\"\($0.month)\",\"sealed_deliveries\":\($0.sealed),\"dropped\":\($0.isDropped)}"
            }
            if remainder.strays > 0 || remainder.sealed > 0 {
                items.append(
                    "{\"month\":null,\"sealed_deliveries\":\(remainder.sealed),\"dropped\":true,\"events\":\(remainder.strays)}"
                )
            }
            StandardStream.output.write("[\(items.joined(separator: ","))]\n")
        }
        return outcomes.allSatisfy(\.isDropped) ? .done : .failed
    }

    private func sentence(_ outcome: RetentionRun.Outcome) -> String {
        let month = "\(outcome.month)".prefix(7)
        return outcome.isDropped
            ? "\(month): dropped; deliveries sealed: \(outcome.sealed).\n"
            : "\(month): closed; deliveries sealed: \(outcome.sealed); but somebody is reading it, so it is not dropped yet: run this again.\n"
    }
}

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
        let isEverywhere = try forgetInOtherCells(access, log)
        switch format {
        case .text: StandardStream.output.write(text(receipt.erased, exportRows: receipt.exportRows))
        case .json: StandardStream.output.write(json(receipt.erased, exportRows: receipt.exportRows))
        }
        return isEverywhere ? .done : .failed
    }

    /// All cells of a cluster have the rows of Firebase's export, and only the cell of the install knows which are of it.
    private func forgetInOtherCells(_ access: DatabaseAccess, _ log: Log) throws -> Bool {
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "command", log: log)
        guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else { return true }
        let app = try Apps.named(slug, on: &connection).id
        let erased = try FCMExportStore.erasedInstances(of: app, on: &connection)
        var isEverywhere = true
        for cell in cluster.map.cells where cell != cluster.own {
            do throws(PostgresError) {
                _ = try cluster.on(cell) { connection throws(PostgresError) in
                    try FCMExportStore.forget(erased, on: &connection)
                }
            } catch {
                isEverywhere = false
                StandardStream.error.write(
                    String(
                        printable:
                            "The cell '\(cell.name)' may still have rows of FCM's export of this install: \(error). Erase it again when the cell can be reached."
                    ) + "\n")
            }
        }
        return isEverywhere
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
