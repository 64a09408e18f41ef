internal import Accounts
internal import Console
internal import EventLog
internal import Health
internal import Ingestion
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Reads an envelope as the service would, and shows what would become of each event.
struct EventCheckCommand: Command {
    static let words = ["event", "check"]
    static let operands: [Operand<Self>] = [Operand("FILE", \.path)]
    static let summary = "Say what would become of an envelope's events; exit 1 if any would be rejected"
    static let options: [Option<Self>] = [.format(\.format)]

    private var path = ""
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        guard let body = try InputFile.read(path, most: Bounds.unpackedBody) else {
            throw Failure("the envelope has over \(Bounds.unpackedBody) bytes: send the events in smaller envelopes")
        }
        let check: EnvelopeCheck
        do { check = try EnvelopeCheck(body, receivedAt: WallClock.now) } catch {
            throw Failure("the service would refuse the whole envelope: \(error)")
        }
        switch format {
        case .text: StandardStream.output.write(check.text)
        case .json: StandardStream.output.write(check.json)
        }
        return check.isClean ? .done : .failed
    }
}

/// Prints events as they are committed.
struct EventsTailCommand: DatabaseCommand {
    static let words = ["events", "tail"]
    static let summary = "Print events as they are committed, and what is rejected and why"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", \.filter.app, .text, help: "Only events of this app"),
        Option("install", "ID", \.filter.install, .install, help: "Only events of this install"),
        Option(
            "type", "TYPE", \.filter.type, .oneOf(EventType.allCases.map(\.name)) { EventType(wire: $0) },
            help: "Only events of this type, and nothing that is rejected"),
        Option(
            "from", "POSITION", \.position, .position,
            help:
                "Begin after this batch; 0 is the beginning (default: the newest); on a hub one a cell: "
                + "cell-1:12,cell-2:40"
        ),
        Option(
            "limit", "N", \.limit, .number(in: 1...Int.max), help: "End after so many lines (default: Ctrl-C ends it)"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var filter = LogTail.Filter()
    private var position: LogPosition?
    private var limit = Int.max
    private var format = OutputFormat.text

    /// How often it looks for new batches.
    private static let seconds = 0.25

    func run() throws -> ExitCode {
        Signals.prepare()
        let isOver = Lock(false)
        _ = Worker(name: "signals") {
            _ = Signals.waitForStop()
            Signals.letTheNextOneKill()
            isOver.withLockNotifying { $0 = true }
        }
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log, fit: .anyVersion, interruptible: false)
        defer { access.release() }
        var connection = try LogSession.open(url: access.url, role: .analyst, purpose: "tail", log: log)
        try connection.execute(script: LogTails.settings)
        if let app = filter.app, try !LogTail.knows(app: app, on: &connection) {
            throw Failure("no app '\(String(printable: app))': see bellwether app list")
        }
        let cells = try LogTails.cells(on: &connection)
        let begin = try position?.among(cells, option: "from") ?? LogTails.head(of: cells, on: &connection)
        var tail = LogTails(after: begin, filter, of: cells)
        if StandardStream.error.isTerminal {
            StandardStream.error.write("Events after batch \(tail.position). Ctrl-C ends it.\n")
        }
        var left = limit
        let show = { (line: LogTail.Line) in
            StandardStream.output.write(
                (format == .text ? String(printable: line.text) : String(escapedJSON: line.json)) + "\n")
            left -= 1
            return left > 0 && !StandardStream.output.isDeserted && !isOver.withLock { $0 }
        }
        do {
            while try tail.advance(on: &connection, show) {
                let isEnd = isOver.wait(until: .after(seconds: Self.seconds)) { $0 ? true : nil }
                if isEnd != nil { break }
            }
        } catch {
            StandardStream.error.write(
                "All up to batch \(tail.position) is printed: go on with --from \(tail.position)\n")
            throw error
        }
        return .done
    }
}
