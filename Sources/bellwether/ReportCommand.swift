internal import Console
internal import Glibc
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// Prints the summary of a day, and keeps it.
struct ReportCommand: Command {
    static let words = ["report"]
    static let summary = "Print the report of a day and keep it, print a kept one again, or sum up a week"
    static let options = [
        Option("app", "SLUG", help: "Only this app (default: all, one after another)"),
        Option("week", "WEEK", help: "The summary of a week from Monday instead: 2026-W47, or last. It is not kept"),
        Option("date", "DAY", help: "YYYY-MM-DD, today or yesterday in the app's time zone (default yesterday)"),
        Option(
            "format", "FORMAT", choices: ReportFormat.allCases.map(\.rawValue),
            help: "text, markdown, html, json or csv (default text)"),
        Option("output", "FILE", help: "Write the report there, whole or not at all, and print nothing (-: print)"),
        Option("as-of", "POSITION", help: "Print the report kept at or before this position (batch number), unchanged"),
        Option("wait", "TIME", help: "How long to wait for funnels that are behind: 90s, 5m, 0s (default 60s)"),
        Option("all-apps", help: "The nightly run: every app in every format, into --output-dir"),
        Option("output-dir", "DIR", help: "Write every format, as DIR/SLUG/DAY.txt, .md, .html, .json, .csv"),
    ]

    private let arguments: Arguments
    private let period: PeriodChoice
    private let format: ReportFormat
    private let position: Int64?
    /// Nil means standard output.
    private let output: String?
    private let wait: Double

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        period =
            try arguments.text("week").map(PeriodChoice.init(week:))
            ?? PeriodChoice(date: arguments.text("date") ?? "yesterday")
        format = try arguments.choice("format", default: .text)
        position = try Self.position(arguments)
        output = arguments.text("output").flatMap { $0 == "-" ? nil : $0 }
        wait = try Self.seconds(arguments.text("wait") ?? "60s")
        if arguments.has("week"), arguments.has("date") { throw UsageError("give --date or --week, not both") }
        if arguments.has("week"), arguments.has("as-of") {
            throw UsageError("reports of weeks are not kept: leave out --as-of")
        }
        if arguments.has("all-apps"), arguments.has("app") { throw UsageError("give --all-apps or --app, not both") }
        if arguments.has("all-apps"), !arguments.has("output-dir") {
            throw UsageError("--all-apps writes files: name the directory with --output-dir DIR")
        }
        guard arguments.has("output-dir") else { return }
        guard arguments.has("all-apps") || arguments.has("app") else {
            throw UsageError("name the app with --app SLUG, or give --all-apps")
        }
        for name in ["format", "output", "as-of"] where arguments.has(name) {
            throw UsageError("--output-dir writes a new report in every format: leave out --\(name)")
        }
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        let now = WallClock.now
        let session = ReporterSession(access: access, log: log)
        var connection = try session.open()
        let apps = try chosenApps(at: now, on: &connection)
        if let directory = arguments.text("output-dir") {
            return try NightlyReports(
                directory: directory, period: period, now: now, wait: wait,
                elsewhere: arguments.has("all-apps") ? access.variables : nil
            ).run(apps, on: &connection, of: session)
        }
        guard let first = apps.first else {
            throw Failure("there is no app yet. To create one: bellwether app create SLUG")
        }
        guard apps.count == 1 || format != .html else {
            throw UsageError(
                "an HTML file holds one app: name it with --app SLUG (\(first.slug), …), or use --all-apps --output-dir DIR"
            )
        }
        let periods = try apps.map { app in (app, try period.period(of: app)) }
        guard let position else { return try printNew(periods, now: now, on: &connection) }
        return try printKept(periods.map { ($0, $1.days.upperBound) }, atOrBefore: position, on: &connection)
    }

    /// Makes all reports before printing any: a part of the output would look like all of it.
    private func printNew(
        _ periods: [(ReportedApp, Period)], now: Timestamp, on connection: inout Connection
    ) throws -> ExitCode {
        let isColoured = format == .text && output == nil && StandardStream.output.takesColour
        var patience = Patience(seconds: wait)
        var documents: [String] = []
        var complaints = ""
        for (app, period) in periods {
            try patience.waitForFunnels(of: app, on: period.days.upperBound, connection: &connection)
            let made = try Reporter(app: app.slug, period: period, now: now).make(on: &connection)
            documents.append(isColoured ? made.colouredText : made.documents[format])
            if case .failed(let error) = made.keeping {
                complaints += "bellwether: \(app.slug), \(period.name): \(error.whyNotKept)\n"
            }
        }
        try write(documents)
        // The data is correct, so it is printed. But it is an error that it cannot be printed again later.
        StandardStream.error.write(complaints)
        return complaints.isEmpty ? .done : .failed
    }

    /// Prints a report again exactly as it was printed then.
    private func printKept(
        _ days: [(ReportedApp, CivilDate)], atOrBefore position: Int64, on connection: inout Connection
    ) throws -> ExitCode {
        var documents: [String] = []
        for (app, day) in days {
            if let kept = try ReportArchive.newest(app: app.slug, day: day, atOrBefore: position, on: &connection) {
                documents.append(kept.documents[format])
            } else {
                StandardStream.error.write(
                    "bellwether: no report of '\(app.slug)' of \(day) is kept at or before position \(position).\n")
                try tellKept(of: app.slug, day, on: &connection)
            }
        }
        guard documents.count == days.count else { return .failed }
        try write(documents)
        return .done
    }

    /// Lists the kept reports of the day, or of all days if the day has none.
    private func tellKept(of app: String, _ day: CivilDate, on connection: inout Connection) throws {
        let most = 30
        var kept = try ReportArchive.list(app: app, day: day, on: &connection)
        if kept.isEmpty { kept = try ReportArchive.list(app: app, on: &connection) }
        guard !kept.isEmpty else {
            StandardStream.error.write("No report of '\(app)' is kept yet.\n")
            return
        }
        var table = TextTable(["KEPT OF DAY", "POSITION", "MADE AT"])
        for place in kept.prefix(most) { table.add(["\(place.day)", "\(place.position)", "\(place.madeAt)"]) }
        StandardStream.error.write(table.text)
        if kept.count > most {
            StandardStream.error.write("And \(kept.count - most) earlier ones; see analytics.reports.\n")
        }
    }

    private func write(_ documents: [String]) throws {
        let text = format.joined(documents)
        if let output {
            try OutputFile.write(text, to: output)
        } else {
            StandardStream.output.write(text)
        }
    }

    private func chosenApps(at now: Timestamp, on connection: inout Connection) throws -> [ReportedApp] {
        guard let slug = arguments.text("app") else { return try ReportedApp.all(at: now, on: &connection) }
        return [try ReportedApp.find(slug, at: now, on: &connection)]
    }

    private static func position(_ arguments: Arguments) throws -> Int64? {
        guard let text = arguments.text("as-of") else { return nil }
        guard let position = Int64(text), position >= 0 else {
            throw UsageError(
                "--as-of takes a position (batch number), a whole number from 0, not '\(String(printable: text))'")
        }
        return position
    }

    private static func seconds(_ text: String) throws -> Double {
        guard let match = text.wholeMatch(of: /([0-9]{1,6})(s|m|h)?/), let number = Double(match.1) else {
            throw UsageError("--wait takes a time such as 90s, 5m or 0s, not '\(String(printable: text))'")
        }
        return number * (match.2 == "h" ? 3600 : match.2 == "m" ? 60 : 1)
    }
}
