internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Ingestion
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// The number of a rejected event. Each cell of a cluster has numbers of its own.
private struct RejectedID: CustomStringConvertible {
    let cell: String?
    let number: Int64

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let number = Int64(parts[parts.count - 1]) else { return nil }
        (cell, self.number) = (parts.count == 2 ? String(parts[0]) : nil, number)
    }

    init(_ number: Int64, in database: CellDatabase) { (cell, self.number) = (database.name, number) }

    var description: String { (cell.map { $0 + ":" } ?? "") + "\(number)" }
}

/// Which rejected events the command line means.
private struct RejectedChoice: Readable {
    var filter = RejectionFilter()
    var ids: [RejectedID] = []

    static let options: [Option<Self>] = [
        Option("app", "SLUG", \.filter.app, .text, help: "Only events of this app"),
        Option(
            "reason", "REASON", \.filter.reason, .oneOf(RejectionReason.allCases.map(\.rawValue)) { $0 },
            help: "Only events rejected for this reason"),
        Option(
            "id", "N", each: \.ids, OptionValue("a number, or on a hub CELL:NUMBER") { RejectedID($0) },
            help: "Only this event (on a hub: CELL:N); may be repeated"),
    ]

    /// Checks that these databases have the cells that the numbers name.
    func check(among databases: [CellDatabase]) throws {
        let names = databases.map(\.name)
        for id in ids where !names.contains(id.cell) {
            throw UsageError(
                names == [nil]
                    ? "only a hub has several cells: leave '\(String(printable: id.cell ?? ""))' "
                        + "out of --id \(id.number)"
                    : "--id \(String(printable: "\(id)")) names no cell of this cluster: "
                        + "write CELL:NUMBER, as rejected list does"
            )
        }
    }

    /// What it means in one database; nil if nothing there. Checks it, because an empty result would hide a mistyped
    /// name.
    func filter(in database: CellDatabase, on connection: inout Connection) throws -> RejectionFilter? {
        var filter = filter
        if let app = filter.app { _ = try Apps.named(app, on: &connection) }
        guard !ids.isEmpty else { return filter }
        let own = ids.filter { $0.cell == database.name }.map(\.number)
        guard !own.isEmpty else { return nil }
        let unknown = try RejectedEvents.unknown(own, on: &connection).map { RejectedID($0, in: database) }
        guard unknown.isEmpty else {
            throw Failure(
                "no rejected event has the id \(unknown.map(\.description).joined(separator: ", ")): "
                    + "see bellwether rejected list"
            )
        }
        filter.ids = own
        return filter
    }
}

/// Shows rejected events.
struct RejectedListCommand: DatabaseCommand {
    static let words = ["rejected", "list"]
    static let summary = "Show rejected events, newest first"
    static let options = RejectedChoice.options.within(
        \Self.choice,
        before: [
            Option("limit", "N", \.choice.filter.limit, .number(in: 1...1_000_000), help: "How many to show (default)"),
            Option("all", \.choice.filter.includingReplayed, help: "Include those that a replay has accepted"),
            .format(\.format),
        ])

    var database = DatabaseChoice()
    private var choice = RejectedChoice()
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.workplaces(log: log)
        try choice.check(among: databases)
        // A list without one of the cells would look like all of it.
        var found: [(database: CellDatabase, rejection: StoredRejection)] = []
        for database in databases {
            do {
                var connection = try LogSession.open(
                    url: database.url, role: nil, purpose: "command", log: log, statementSeconds: 600)
                guard let filter = try choice.filter(in: database, on: &connection) else { continue }
                found += try RejectedEvents.list(filter, on: &connection).map { (database, $0) }
            } catch { throw database.error(error) }
        }
        if databases.count > 1 {
            found.sort { $0.rejection.receivedAt > $1.rejection.receivedAt }
            found = Array(found.prefix(Int(choice.filter.limit)))
        }
        show(found)
        return .done
    }

    private func show(_ found: [(database: CellDatabase, rejection: StoredRejection)]) {
        switch format {
        case .text:
            var table = TextTable(["ID", "RECEIVED", "APP", "KEY", "REASON", "DETAIL"])
            for (database, rejection) in found {
                table.add([
                    "\(RejectedID(rejection.id, in: database))", "\(rejection.receivedAt)", rejection.slug,
                    rejection.keyName ?? "", rejection.reason, rejection.detail,
                ])
            }
            StandardStream.output.write(table.text)
        case .json:
            for (database, rejection) in found {
                let object: JSONObject = [
                    "id": rejection.id, "received_at": "\(rejection.receivedAt)", "app": rejection.slug,
                    "key": rejection.keyName, "reason": rejection.reason, "detail": rejection.detail,
                    "replayed_at": rejection.replayedAt.map { "\($0)" }, "raw": rejection.raw,
                ]
                StandardStream.output.write(database.line(object))
            }
        }
    }
}

/// Tries rejected events again.
struct RejectedReplayCommand: DatabaseCommand {
    static let words = ["rejected", "replay"]
    static let summary =
        "Try rejected events again, as of the time they came; exit 1 if all are rejected again"
    static let options = RejectedChoice.options.within(\Self.choice)

    var database = DatabaseChoice()
    private var choice = RejectedChoice()

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.workplaces(log: log)
        try choice.check(among: databases)
        // Each event goes to the cell of its install, which may be another than the one that keeps it.
        let appenders = databases.map { database in
            Appender(.init(url: database.url, node: "replay"), allowance: RejectedAllowance(), log: log)
        }
        var outcome = Replay.Counts()
        var failed = false
        for (place, database) in databases.enumerated() {
            do {
                var replay = Replay(
                    appender: appenders[place], others: appenders.indices.filter { $0 != place }.map { appenders[$0] })
                var connection = try LogSession.open(url: database.url, role: nil, purpose: "replay", log: log)
                guard let filter = try choice.filter(in: database, on: &connection) else { continue }
                outcome += try replay.run(filter, on: &connection)
            } catch {
                guard databases.count > 1 else { throw error }
                failed = true
                StandardStream.error.write(String(printable: "bellwether: \(database.error(error))") + "\n")
            }
        }
        StandardStream.output.write(
            "accepted \(outcome.accepted)\nduplicate \(outcome.duplicate)\nrejected \(outcome.rejected)\n"
                + (outcome.elsewhere > 0 ? "of installs in other cells \(outcome.elsewhere)\n" : ""))
        return failed || outcome.rejected > 0 && outcome.accepted + outcome.duplicate == 0 ? .failed : .done
    }
}
