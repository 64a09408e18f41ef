internal import Console
internal import Reports
internal import ServiceRuntime
internal import Values

/// Which day is meant, whatever day it is where the app is.
enum DayChoice {
    case today, yesterday
    case date(CivilDate)

    init(_ text: String) throws {
        switch text {
        case "today": self = .today
        case "yesterday": self = .yesterday
        default:
            guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int(match.1),
                let month = Int(match.2), let day = Int(match.3),
                let date = CivilDate(year: year, month: month, day: day)
            else {
                throw UsageError("--date takes YYYY-MM-DD, today or yesterday, not '\(String(printable: text))'")
            }
            self = .date(date)
        }
    }

    /// The day of this app; one that has not begun there cannot be reported.
    func day(of app: ReportedApp) throws -> CivilDate {
        switch self {
        case .today: return app.today
        case .yesterday: return app.today.advanced(by: -1)
        case .date(let day):
            guard day <= app.today else {
                throw UsageError("--date \(day) has not begun in \(app.timeZone), the time zone of '\(app.slug)'")
            }
            return day
        }
    }
}
