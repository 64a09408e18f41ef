internal import Accounts
internal import Console
internal import EventLog
internal import Health
internal import Postgres
internal import ServiceRuntime

/// Prints the events of the log for other tools, by position.
struct ExportCommand: Command {
    static let words = ["export"]
    static let summary = "Print the events after a position for other tools, each once, and say where to go on"
    static let options = [
        Option("from", "POSITION", help: "Begin after this batch (default: 0, the beginning)"),
        Option(
            "format", "FORMAT", choices: ExportFormat.allCases.map(\.rawValue),
            help: "csv with a header, or ndjson: a JSON object a line"),
        Option("app", "SLUG", help: "Only events of this app"),
        Option("next", "FILE", help: "Write the position to go on from into this file, when everything is printed"),
    ]

    private let arguments: Arguments
    private let position: Int64
    private let format: ExportFormat
    private let app: String?
    private let next: String?

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        position = Int64(try arguments.number("from", in: 0...Int(Int64.max), default: 0))
        format = try arguments.choice("format", default: .csv)
        app = arguments.text("app")
        next = arguments.text("next")
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log, fit: .anyVersion)
        defer { access.release() }
        var connection = try LogSession.open(url: access.url, role: .analyst, purpose: "export", log: log)
        // Force look-ups by index for batches and events, whatever the statistics of a young log say.
        try connection.execute(
            script: "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off")
        if let app, try !LogTail.knows(app: app, on: &connection) {
            throw Failure("no app '\(String(printable: app))': see bellwether app list")
        }
        var export = try LogExport(after: position, app: app, as: format.shape, on: &connection)
        guard position <= export.end else {
            throw Failure("the log ends at position \(export.end), before \(position)")
        }
        if let header = format.header(export.columns) { StandardStream.output.write(header) }
        var events = 0
        while true {
            let done = export.position
            do {
                guard let rows = try export.next(on: &connection) else { break }
                events += rows.count
                StandardStream.output.write(rows.map(format.line).joined())
            } catch {
                StandardStream.error.write("All up to position \(done) is printed: go on with --from \(done)\n")
                throw error
            }
            guard !StandardStream.output.isDeserted, StandardStream.output.failure == nil else {
                throw Failure("nobody took all of it: what was printed after position \(done) is not complete")
            }
        }
        if let next { try OutputFile.write("\(export.end)\n", to: next) }
        StandardStream.error.write("\(events) events up to position \(export.end): go on with --from \(export.end)\n")
        return .done
    }
}

/// How an event is printed.
enum ExportFormat: String, CaseIterable {
    case csv, ndjson

    /// The first line; nil if there is none.
    func header(_ columns: [String]) -> String? {
        self == .csv ? columns.map { Self.quoted($0) }.joined(separator: ",") + "\n" : nil
    }

    var shape: LogExport.Shape { self == .csv ? .cells : .json }

    /// An event as one line. In CSV null is an empty cell, and an empty text is `""`, as PostgreSQL's COPY reads them.
    func line(_ cells: [String?]) -> String {
        cells.map { cell in self == .csv ? cell.map(Self.quoted) ?? "" : cell ?? "" }.joined(separator: ",") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { ![0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }
}
