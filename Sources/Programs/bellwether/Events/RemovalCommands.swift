internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import Removal
internal import ServiceRuntime
internal import Values

/// Drops old months.
struct RetainCommand: DatabaseCommand {
    static let words = ["retain"]
    static let summary = "Drop months of events older than N days, in all cells; their counts stay in the funnels"
    static let options: [Option<Self>] = [
        Option(
            "days", "N", \.days, .number(in: 1...36_500), required: "say how many days to keep",
            help:
                "Keep events that occurred or were received within so many days, and none for more than twice as long"
        ),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var days = 0
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.wholeCluster(log: log)
        let format = format
        let gone = try RemovalByAge(databases, log: log).run(keeping: days) { database, outcome in
            if case .text = format {
                StandardStream.output.write(database.labelled(Self.sentence(outcome)))
            }
        }
        switch format {
        case .text: StandardStream.output.write(text(gone))
        case .json: StandardStream.output.write(gone.parts.flatMap(Self.objects).json + "\n")
        }
        for failure in gone.failures {
            StandardStream.error.write(String(printable: "bellwether: \(failure)") + "\n")
        }
        if !gone.failures.isEmpty {
            StandardStream.error.write("What is left there goes when you run the same command again.\n")
        }
        return gone.failures.isEmpty && gone.parts.flatMap(\.months).allSatisfy(\.isDropped) ? .done : .failed
    }

    /// What follows the sentences about months.
    private func text(_ gone: RemovalByAge.Result) -> String {
        var text = ""
        if gone.failures.isEmpty, gone.parts.allSatisfy(\.isEmpty) {
            text +=
                "Nothing to drop: every month has an event that occurred or was received in the last \(days) days, "
                + "or ended within them.\n"
        }
        for part in gone.parts {
            let remainder = part.remainder
            if remainder.strays > 0 || remainder.sealed > 0 {
                text += part.database.labelled(
                    "Events whose clock belongs to no month, received over \(days) days ago: "
                        + "\(remainder.strays) dropped; deliveries sealed: \(remainder.sealed).\n"
                )
            }
            if remainder.refused > 0 {
                text += part.database.labelled(
                    "Rejected events received over \(days) days ago: \(remainder.refused) dropped; "
                        + "data_quality keeps their counts.\n"
                )
            }
        }
        if gone.exportRows > 0 {
            text += "Rows of FCM's export dropped: \(gone.exportRows); campaign_funnel keeps their counts.\n"
        }
        return text
    }

    private static func objects(_ part: RemovalByAge.Part) -> [JSONObject] {
        var objects: [JSONObject] = part.months.map {
            ["month": "\($0.month)", "sealed_deliveries": $0.sealed, "dropped": $0.isDropped]
        }
        let remainder = part.remainder
        if remainder.strays > 0 || remainder.sealed > 0 {
            objects.append([
                "month": String?.none, "sealed_deliveries": remainder.sealed, "dropped": true,
                "events": remainder.strays,
            ])
        }
        return objects.map { object in part.database.name.map { object.preceded(by: "cell", $0) } ?? object }
    }

    private static func sentence(_ outcome: RetentionRun.RemovedMonth) -> String {
        let month = "\(outcome.month)".prefix(7)
        return outcome.isDropped
            ? "\(month): dropped; deliveries sealed: \(outcome.sealed).\n"
            : "\(month): closed; deliveries sealed: \(outcome.sealed); "
                + "but somebody is reading it, so it is not dropped yet: run this again.\n"
    }
}

/// Erases one install.
struct EraseCommand: DatabaseCommand {
    static let words = ["erase"]
    static let summary = "Erase an install from the log and every funnel, in all cells; prints a receipt"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", \.app, .text, help: "The app; required without --requested"),
        Option(
            "install", "ID", \.install, .install,
            help: "The install's id, 8-4-4-4-12 hexadecimal digits; required without --requested"),
        Option(
            "requested", \.isRequested,
            help: "Erase all that the apps' servers have asked for by DELETE /v1/installs/ID"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var app: String?
    private var install: UUID?
    private var isRequested = false
    private var format = OutputFormat.text

    func check() throws(UsageError) {
        if isRequested, app != nil || install != nil {
            throw UsageError("--requested erases what was asked for: it takes neither --app nor --install")
        }
        guard isRequested || app != nil && install != nil else {
            throw UsageError("name the install: --app SLUG --install ID")
        }
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        guard let app, let install else { return try performRequested(access, log) }
        let databases = try access.wholeCluster(log: log)
        // An unknown name is said once, and nothing is begun.
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "command", log: log)
        _ = try Apps.named(app, on: &connection)
        let receipt = try RemovalOfInstall(databases, log: log).run(install, ofApp: app)
        switch format {
        case _ where receipt.parts.isEmpty: break
        case .text: StandardStream.output.write(text(receipt, of: install, app))
        case .json:
            let object = receipt.object(of: install, app: app, counting: \.own)
            StandardStream.output.write(object.json + "\n")
        }
        for failure in receipt.failures {
            StandardStream.error.write(String(printable: "bellwether: \(failure)") + "\n")
        }
        if !receipt.failures.isEmpty {
            StandardStream.error.write(
                "There may still be something of the install. "
                    + "As soon as all cells can be reached, run the same command again.\n"
            )
        }
        return receipt.failures.isEmpty ? .done : .failed
    }

    /// Each request is tried once; others may be at work on some of them.
    private func performRequested(_ access: DatabaseAccess, _ log: Log) throws -> ExitCode {
        let erasures = RequestedErasures(url: access.url, log: log)
        var connection = try erasures.open()
        let began: Timestamp = try connection.query("SELECT clock_timestamp()")[0].get(0)
        var code = ExitCode.done
        while true {
            switch try erasures.performNext(notTriedSince: began, on: &connection) {
            case .nothing: return code
            case .notOwner:
                StandardStream.error.write("This login may not delete events: run this as the owner of the database.\n")
                return .failed
            case .erased(let install, let app, let receipt):
                switch format {
                case .text: StandardStream.output.write("Erased install \(install) of app \(app)\n")
                case .json: StandardStream.output.write(receipt + "\n")
                }
            case .failed(let install, let app, let fault):
                code = .failed
                StandardStream.error.write(
                    String(printable: "bellwether: install \(install) of app \(app) waits: \(fault)") + "\n")
            }
        }
    }

    /// The batches of the erasure, as one position.
    private func batch(_ receipt: RemovalOfInstall.Summary) -> LogPosition {
        LogPosition(receipt.parts.map { ($0.database.name, $0.erased.erasure.number) })
    }

    private func text(_ receipt: RemovalOfInstall.Summary, of install: UUID, _ app: String) -> String {
        let at = receipt.parts.map(\.erased.erasure.erasedAt).max().map { "\($0)" } ?? "never"
        var text = """
            Erased install \(install) of app \(app)
            at               \(at), as batch \(batch(receipt))
            events           \(receipt.sum(\.own.events))
            deliveries       \(receipt.sum(\.own.deliveries))
            rejected events  \(receipt.sum(\.own.rejected))
            drop reports     \(receipt.sum(\.own.clientDrops)) no longer name it
            FCM export rows  \(receipt.exportRows), of the Firebase installations that its events named

            """
        if receipt.isEmpty {
            text += "Nothing was stored about it: is the id right?\n"
        }
        text += "Events from before this moment that it still sends are rejected as 'erased'.\n"
        text += "Funnels of months that retain has dropped are sealed: they still count it, without its id.\n"
        for (database, erased) in receipt.parts {
            for projection in erased.stopped {
                text += database.labelled(
                    "\(projection.name) is stopped and still counts it until you run bellwether projection "
                        + "resume \(projection.name).\n"
                )
            }
        }
        return text
    }
}
