internal import Console
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// Makes the reports of a day or week for each app, writes them in every format, as `DIR/shop/2026-11-20.html`, and has
/// them delivered. It is safe to repeat.
struct NightlyReports {
    /// Nil writes no files.
    let directory: String?
    /// Nil delivers nothing.
    let delivery: ReportDelivery?
    let period: PeriodChoice
    let now: Timestamp
    let wait: Double
    /// Whether each report is made in a process of its own, so that whatever ends it does not end the night of all
    /// other apps.
    let isApart: Bool
    /// How another process finds the database.
    let database: [String: String?]

    /// Failures of one app are reported and do not stop the others. A broken connection is reopened.
    func run(
        _ apps: [ReportedApp], on connection: inout Connection, of session: ReporterSession
    ) throws -> ExitCode {
        let output = try directory.map { try OutputDirectory($0, isMade: true) }
        if apps.isEmpty {
            StandardStream.error.write("There is no app yet. To create one: bellwether app create SLUG\n")
        }
        var patience = Patience(seconds: wait)
        var exitCode = ExitCode.done
        for app in apps {
            do {
                if !connection.isUsable { connection = try session.open() }
                let period = try period.period(of: app)
                try patience.waitForFunnels(of: app, on: period.days.upperBound, connection: &connection)
                let isDone = try isApart ? make(app, period) : write(app, period, into: output, on: &connection)
                if !isDone { exitCode = .failed }
            } catch {
                StandardStream.error.write("bellwether: \(app.slug): \(String(printable: "\(error)"))\n")
                exitCode = .failed
            }
        }
        // Whatever failed above, what could be made reaches people.
        if let delivery, try !delivery.send(finding: database) { exitCode = .failed }
        return exitCode
    }

    /// Has another process write them. False if it failed, which it has told.
    private func make(_ app: ReportedApp, _ period: Period) throws -> Bool {
        let option = if case .day = period { "--date" } else { "--week" }
        let process = try OwnProcess(
            ["report", "--app", app.slug, "--wait", "0s", option, period.name]
                + (directory.map { ["--output-dir", $0] } ?? []) + (delivery.map { ["--deliver", $0.file] } ?? []),
            variables: database.merging(ReportDelivery.variables) { $1 })
        let ending = process.wait()
        if case .code(let code) = ending { return code == 0 }
        throw Failure("its report was ended by \(ending), which is a fault of this program or lack of memory")
    }

    /// False if the files were written but the report was not kept.
    private func write(
        _ app: ReportedApp, _ period: Period, into output: OutputDirectory?, on connection: inout Connection
    ) throws -> Bool {
        CrashPoint.pass("reporting")
        let made = try Reporter(app: app.slug, period: period, now: now).make(on: &connection) {
            (made: Reporter.Made, connection: inout Connection) throws(PostgresError) in
            try delivery?.write(made, on: &connection)
        }
        var line = "\(app.slug): \(made.report.headline.counts.delivered) deliveries of \(period.name) at position "
        line += "\(made.report.position)"
        if let output, let directory {
            let own = try output.directory(app.slug)
            for format in ReportFormat.allCases {
                try own.write(made.documents[format], to: "\(period.name).\(format.fileExtension)")
            }
            let endings = ReportFormat.allCases.map(\.fileExtension).joined(separator: ",")
            line += ", in \(String(printable: "\(directory)/\(app.slug)"))/\(period.name).{\(endings)}"
        }
        line += "\n"
        if case .failed(let error) = made.keeping {
            line = "bellwether: \(app.slug), \(period.name): \(error.whyNotKept)\n"
        }
        StandardStream.error.write(line)
        if case .failed = made.keeping { return false }
        return true
    }
}

/// Which day or week to report, whatever the date is in the app's zone.
enum PeriodChoice {
    case today, yesterday, lastWeek
    case date(CivilDate)
    case week(Week)

    /// The day or week for this app. One that has not begun there cannot be reported.
    func period(of app: ReportedApp) throws -> Period {
        switch self {
        case .today: return .day(app.today)
        case .yesterday: return .day(app.today.advanced(by: -1))
        case .lastWeek: return .week(Week(of: app.today.advanced(by: -7)))
        case .date(let day):
            guard day <= app.today else {
                throw UsageError("--date \(day) has not begun in \(app.timeZone), the time zone of '\(app.slug)'")
            }
            return .day(day)
        case .week(let week):
            guard week.monday <= app.today else {
                throw UsageError("--week \(week) has not begun in \(app.timeZone), the time zone of '\(app.slug)'")
            }
            return .week(week)
        }
    }
}

extension OptionValue where Value == PeriodChoice {
    static var date: OptionValue {
        OptionValue("YYYY-MM-DD, today or yesterday") { text in
            switch text {
            case "today": return .today
            case "yesterday": return .yesterday
            default:
                guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int(match.1),
                    let month = Int(match.2), let day = Int(match.3)
                else { return nil }
                return CivilDate(year: year, month: month, day: day).map(PeriodChoice.date)
            }
        }
    }

    static var week: OptionValue {
        OptionValue("a week of the calendar such as 2026-W47, or last") { text in
            text == "last" ? .lastWeek : Week(text).map(PeriodChoice.week)
        }
    }
}

/// How long a command still waits for funnels, in total for all apps.
struct Patience {
    private var seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    /// Returns when the funnels hold what the report needs. Prints a message if it has to wait.
    mutating func waitForFunnels(of app: ReportedApp, on day: CivilDate, connection: inout Connection) throws {
        let begun = Deadline.now
        defer { seconds -= Double(Deadline.now.nanoseconds - begun.nanoseconds) / 1e9 }
        try Readiness(for: day, of: app, on: &connection).wait(until: .after(seconds: seconds), on: &connection) {
            backlog in
            StandardStream.error.write("Waiting up to \(Int(saturating: seconds.rounded(.up))) s: \(backlog).\n")
        }
    }
}
