internal import Accounts
internal import Console
internal import EventLog
internal import Ingestion
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

private let filterOptions = [
    Option("app", "SLUG", help: "Only events of this app"),
    Option(
        "reason", "REASON", choices: RejectionReason.allCases.map(\.rawValue),
        help: "Only events rejected for this reason"),
    Option("id", "N", isRepeatable: true, help: "Only this event; may be repeated"),
]

extension RejectionFilter {
    fileprivate init(_ arguments: Arguments) throws {
        self.init()
        app = arguments.text("app")
        if arguments.has("reason") {
            reason = try arguments.choice("reason", default: RejectionReason.notAnObject).rawValue
        }
        if arguments.has("id") {
            ids = try arguments.texts("id").map { text in
                guard let id = Int64(text) else { throw UsageError("--id takes a number, not '\(text)'") }
                return id
            }
        }
    }

    /// Checks the filter, because an empty result would hide a mistyped name.
    fileprivate func check(on connection: inout Connection) throws {
        if let app { _ = try Apps.named(app, on: &connection) }
        guard let ids else { return }
        let unknown = try RejectedEvents.unknown(ids, on: &connection)
        guard unknown.isEmpty else {
            throw Failure(
                "no rejected event has the id \(unknown.map(String.init).joined(separator: ", ")): see bellwether rejected list"
            )
        }
    }
}

/// Shows rejected events.
struct RejectedListCommand: Command {
    static let words = ["rejected", "list"]
    static let summary = "Show rejected events, newest first"
    static let options =
        filterOptions + [
            Option("limit", "N", help: "How many to show (default 50)"),
            Option("all", help: "Include those that a replay has accepted"),
            Option.format,
        ]

    private let arguments: Arguments
    private let filter: RejectionFilter
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        var filter = try RejectionFilter(arguments)
        filter.limit = Int64(try arguments.number("limit", in: 1...1_000_000, default: 50))
        filter.includingReplayed = arguments.has("all")
        self.filter = filter
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let rejections = try DatabaseAccess.withConnection(arguments) { connection in
            try filter.check(on: &connection)
            return try RejectedEvents.list(filter, on: &connection)
        }
        switch format {
        case .text:
            var table = TextTable(["ID", "RECEIVED", "APP", "KEY", "REASON", "DETAIL"])
            for rejection in rejections {
                table.add([
                    "\(rejection.id)", "\(rejection.receivedAt)", rejection.slug, rejection.keyName ?? "",
                    rejection.reason,
                    rejection.detail,
                ])
            }
            StandardStream.output.write(table.text)
        case .json:
            for rejection in rejections {
                let object: JSONObject = [
                    "id": rejection.id, "received_at": "\(rejection.receivedAt)", "app": rejection.slug,
                    "key": rejection.keyName, "reason": rejection.reason, "detail": rejection.detail,
                    "replayed_at": rejection.replayedAt.map { "\($0)" }, "raw": rejection.raw,
                ]
                StandardStream.output.write(object.json + "\n")
            }
        }
        return .done
    }
}

/// Tries rejected events again.
struct RejectedReplayCommand: Command {
    static let words = ["rejected", "replay"]
    static let summary =
        "Try rejected events again, as of the time they came; exit 1 if all are rejected again"
    static let options = filterOptions

    private let arguments: Arguments
    private let filter: RejectionFilter

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        filter = try RejectionFilter(arguments)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        var replay = Replay(
            appender: Appender(.init(url: access.url, node: "replay"), allowance: RejectedAllowance(), log: log))
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "replay", log: log)
        try filter.check(on: &connection)
        let outcome = try replay.run(filter, on: &connection)
        StandardStream.output.write(
            "accepted \(outcome.accepted)\nduplicate \(outcome.duplicate)\nrejected \(outcome.rejected)\n"
                + (outcome.elsewhere > 0 ? "of installs in other cells \(outcome.elsewhere)\n" : ""))
        return outcome.rejected > 0 && outcome.accepted + outcome.duplicate == 0 ? .failed : .done
    }
}
