internal import Console
internal import Glibc
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// Prints the summary of a day, and keeps it.
struct ReportCommand: DatabaseCommand {
    static let words = ["report"]
    static let summary = "Print the report of a day and keep it, print a kept one again, or sum up a week"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", \.app, .text, help: "Only this app (default: all, one after another)"),
        Option(
            "week", "WEEK", \.week, .week,
            help: "The summary of a week from Monday instead: 2026-W47, or last. It is not kept"),
        Option(
            "date", "DAY", \.date, .date,
            help: "YYYY-MM-DD, today or yesterday in the app's time zone (default yesterday)"),
        Option("format", "FORMAT", \.chosenFormat, .word, help: "text, markdown, html, json or csv (default text)"),
        Option(
            "output", "FILE", \.output, .text,
            help: "Write the report there, whole or not at all, and print nothing (-: print)"),
        Option(
            "as-of", "POSITION", \.position, .batch,
            help: "Print the report kept at or before this position (batch number), unchanged"),
        Option(
            "wait", "TIME", \.wait, .seconds,
            help: "How long to wait for funnels that are behind: 90s, 5m, 0s (default 60s)"),
        Option("all-apps", \.isOfAllApps, help: "The nightly run: every app, into --output-dir and as --deliver says"),
        Option(
            "output-dir", "DIR", \.directory, .text,
            help: "Write every format, as DIR/SLUG/DAY.txt, .md, .html, .json, .csv"),
        Option(
            "deliver", "FILE", \.deliveryFile, .text,
            help: "Send each report to the places of FILE that want it, by mail, chat or a signed POST"),
    ]

    var database = DatabaseChoice()
    private var app: String?
    private var week: PeriodChoice?
    private var date: PeriodChoice?
    private var chosenFormat: ReportFormat?
    private var output: String?
    private var position: Int64?
    private var wait = 60.0
    private var isOfAllApps = false
    private var directory: String?
    private var deliveryFile: String?

    private var format: ReportFormat { chosenFormat ?? .text }
    /// Nil means standard output.
    private var file: String? { output == "-" ? nil : output }

    func check() throws(UsageError) {
        if week != nil, date != nil { throw UsageError("give --date or --week, not both") }
        if week != nil, position != nil { throw UsageError("reports of weeks are not kept: leave out --as-of") }
        if isOfAllApps, app != nil { throw UsageError("give --all-apps or --app, not both") }
        if isOfAllApps, directory == nil, deliveryFile == nil {
            throw UsageError(
                "--all-apps writes files or delivers: name the directory with --output-dir DIR, or give --deliver FILE")
        }
        guard directory != nil || deliveryFile != nil else { return }
        guard isOfAllApps || app != nil else {
            throw UsageError("name the app with --app SLUG, or give --all-apps")
        }
        for (name, isGiven) in [("format", chosenFormat != nil), ("output", output != nil), ("as-of", position != nil)]
        where isGiven {
            let option =
                directory == nil ? "--deliver sends a new report" : "--output-dir writes a new report in every format"
            throw UsageError("\(option): leave out --\(name)")
        }
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let now = WallClock.now
        let session = ReporterSession(access: access, log: log)
        var connection = try session.open()
        let apps = try chosenApps(at: now, on: &connection)
        let period = week ?? date ?? .yesterday
        if directory != nil || deliveryFile != nil {
            let (delivery, isRight) = try delivery(to: apps)
            let exitCode = try NightlyReports(
                directory: directory, delivery: delivery, period: period, now: now, wait: wait,
                isApart: isOfAllApps, database: access.variables
            ).run(apps, on: &connection, of: session)
            return isRight ? exitCode : .failed
        }
        guard let first = apps.first else {
            throw Failure("there is no app yet. To create one: bellwether app create SLUG")
        }
        guard apps.count == 1 || format != .html else {
            throw UsageError(
                "an HTML file holds one app: name it with --app SLUG (\(first.slug), …), "
                    + "or use --all-apps --output-dir DIR"
            )
        }
        let periods = try apps.map { app in (app, try period.period(of: app)) }
        guard let position else { return try printNew(periods, now: now, on: &connection) }
        return try printKept(periods.map { ($0, $1.days.upperBound) }, atOrBefore: position, on: &connection)
    }

    /// What `--deliver` asks for, and whether nothing is wrong with it. A fault in its file does not keep the reports
    /// of a night from being made and written.
    private func delivery(to apps: [ReportedApp]) throws -> (ReportDelivery?, isRight: Bool) {
        guard let deliveryFile else { return (nil, true) }
        do {
            let delivery = try ReportDelivery(deliveryFile)
            let strangers = isOfAllApps ? delivery.strangers(among: apps) : []
            for words in strangers { StandardStream.error.write("bellwether: \(words)\n") }
            return (delivery, strangers.isEmpty)
        } catch {
            guard directory != nil else { throw error }
            StandardStream.error.write("bellwether: nothing is delivered: \(String(printable: "\(error)"))\n")
            return (nil, false)
        }
    }

    /// Makes all reports before printing any: a part of the output would look like all of it.
    private func printNew(
        _ periods: [(ReportedApp, Period)], now: Timestamp, on connection: inout Connection
    ) throws -> ExitCode {
        let isColoured = format == .text && file == nil && StandardStream.output.takesColour
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
        if let file {
            try OutputFile.write(text, to: file)
        } else {
            StandardStream.output.write(text)
        }
    }

    private func chosenApps(at now: Timestamp, on connection: inout Connection) throws -> [ReportedApp] {
        guard let app else { return try ReportedApp.all(at: now, on: &connection) }
        return [try ReportedApp.find(app, at: now, on: &connection)]
    }
}

extension OptionValue where Value == Int64 {
    fileprivate static var batch: OptionValue {
        OptionValue("a position (batch number), a whole number from 0") { text in
            Int64(text).flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}

extension OptionValue where Value == Double {
    fileprivate static var seconds: OptionValue {
        OptionValue("a time such as 90s, 5m or 0s") { text in
            guard let match = text.wholeMatch(of: /([0-9]{1,6})(s|m|h)?/), let number = Double(match.1) else {
                return nil
            }
            return number * (match.2 == "h" ? 3600 : match.2 == "m" ? 60 : 1)
        }
    }
}
