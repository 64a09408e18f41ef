internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Glibc
internal import Health
internal import Postgres
internal import ServiceRuntime

/// Prints the events of the log for other tools, by position.
struct ExportCommand: DatabaseCommand {
    static let words = ["export"]
    static let summary = "Print the events after a position for other tools, each once, and say where to go on"
    static let options: [Option<Self>] = [
        Option(
            "from", "POSITION", \.position, .position,
            help: "Begin after this batch (default: 0, the beginning); on a hub one a cell: cell-1:12,cell-2:40"),
        Option(
            "format", "FORMAT", \.format, .word,
            help:
                "csv with a header, exact, for programs; ndjson: a JSON object a line; cloudevents: a batch of "
                + "CloudEvents a line, each as POST /v1/events takes it; spreadsheet: CSV of which no cell is taken "
                + "for a formula"),
        Option("app", "SLUG", \.app, .text, help: "Only events of this app"),
        Option(
            "next", "FILE", \.next, .text,
            help: "Write the position to go on from into this file, when everything is printed"),
    ]

    var database = DatabaseChoice()
    private var position = LogPosition(0)
    private var format = ExportFormat.csv
    private var app: String?
    private var next: String?

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log, fit: .anyVersion)
        defer { access.release() }
        let sources = try sources(access, log)
        var position = try self.position.among(sources.map(\.database.name), option: "from")
        // All of them first: what is printed is never a part without a word.
        for source in sources { try source.begin(after: position, app: app, as: format.shape) }
        let begun = position
        let logs = Dictionary(
            uniqueKeysWithValues: sources.map { ($0.database.name, (gone: $0.forgotten, end: $0.end)) })
        func fate(_ batch: MovedBatch) -> MovedBatch.Fate {
            // A database alone shows all that it has.
            guard sources.count > 1 else { return .unread }
            guard let source = batch.source, let log = logs[source], batch.until > begun[source] else { return .read }
            // That cell still has them, and prints those that it had when this began.
            if batch.shards.contains(where: { log.gone[$0] ?? 0 < batch.until }) {
                return batch.until <= log.end ? .read : .later
            }
            return .unread
        }
        if let header = format.header(sources[0].columns) { StandardStream.output.write(header) }
        var events = 0
        for source in sources {
            while true {
                do {
                    guard let rows = try source.next(moved: fate) else { break }
                    events += rows.count
                    StandardStream.output.write(format.text(of: rows))
                } catch {
                    StandardStream.error.write(
                        "All up to position \(position) is printed: go on with --from \(position)\n")
                    throw error
                }
                guard !StandardStream.output.isDeserted, StandardStream.output.failure == nil else {
                    throw Failure("nobody took all of it: what was printed after position \(position) is not complete")
                }
                CrashPoint.pass("events printed")
                position[source.database.name] = source.position
            }
        }
        if let next {
            CrashPoint.pass("all printed")
            try Self.keepOutput()
            try OutputFile.write("\(position)\n", to: next)
            CrashPoint.pass("position written")
        }
        StandardStream.error.write("\(events) events up to position \(position): go on with --from \(position)\n")
        return .done
    }

    /// Has the disk keep what was printed into a file: a power cut must not take it and leave the position after it.
    private static func keepOutput() throws {
        // EINVAL: a pipe, a terminal or another device, which keeps nothing.
        guard fsync(StandardStream.output.rawValue) != 0, errno != EINVAL, errno != EROFS else { return }
        throw Failure("what was printed may not be on the disk: \(unsafe String(cString: strerror(errno)))")
    }

    /// The logs to read. Those of cells are read in the cells, which find the events of a batch by their indexes.
    private func sources(_ access: DatabaseAccess, _ log: Log) throws -> [ExportSource] {
        let only = try ExportSource(CellDatabase(alone: access.url), log: log)
        guard try only.isHub else { return [only] }
        do {
            return try access.workplaces(log: log).map { database in
                do {
                    try DatabaseFit.anyVersion.check(database.url, log: log)
                    return try ExportSource(database, log: log)
                } catch { throw database.error(error) }
            }
        } catch let error as PostgresError where error.state == .insufficientPrivilege {
            throw Failure(
                "on a hub, export reads the cells themselves: give a login that they all have, such as the owner's")
        }
    }
}

/// One log that is exported.
private final class ExportSource {
    let database: CellDatabase
    private var connection: Connection
    private var export: LogExport?
    /// See `MovedBatch.forgotten`.
    private(set) var forgotten: [Int16: Int64] = [:]

    init(_ database: CellDatabase, log: Log) throws {
        self.database = database
        connection = try LogSession.open(url: database.url, role: .analyst, purpose: "export", log: log)
        try connection.execute(script: LogTails.settings)
    }

    var isHub: Bool { get throws { try LogTails.isHub(&connection) } }

    var columns: [String] { export?.columns ?? [] }

    var position: Int64 { export?.position ?? 0 }

    var end: Int64 { export?.end ?? 0 }

    func begin(after position: LogPosition, app: String?, as shape: LogExport.Shape) throws {
        do {
            if let app, try !LogTail.knows(app: app, on: &connection) {
                throw Failure("no app '\(String(printable: app))': see bellwether app list")
            }
            let after = position[database.name]
            let export = try LogExport(after: after, app: app, as: shape, on: &connection)
            guard after <= export.end else {
                throw Failure("the log ends at position \(export.end), before \(after)")
            }
            self.export = export
            forgotten = try MovedBatch.forgotten(on: &connection)
        } catch { throw database.error(error) }
    }

    /// The next events; nil when there are no more.
    func next(moved fate: (MovedBatch) -> MovedBatch.Fate) throws -> [[String?]]? {
        do {
            let rows = try export?.next(on: &connection, moved: fate)
            // Events that were removed while they were read are in another cell, which was asked before, or will be,
            // without them.
            guard try MovedBatch.forgotten(on: &connection) == forgotten else {
                throw Failure(
                    "a shard has just moved to another cell: the same command again, from there, prints the rest")
            }
            return rows
        } catch { throw database.error(error) }
    }
}

extension LogPosition {
    /// This position in the logs that the command reads. If it names other logs, the error says which there are.
    func among(_ cells: [String?], option: String) throws -> LogPosition {
        if let position = among(cells) { return position }
        let names = cells.compactMap(\.self)
        throw UsageError(
            names.isEmpty
                ? "--\(option) takes one number here: only a hub has a position in each cell"
                : "--\(option) takes a position in each cell here, such as \(LogPosition(names.map { ($0, 12) })), "
                    + "or 0; the cells are \(names.joined(separator: ", "))"
        )
    }
}
