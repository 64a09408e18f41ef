internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// The days that a page is about, and how settled they are.
struct Scope: Sendable {
    /// Nil for all apps.
    var app: ReportedApp?
    var today: CivilDate
    var days: DayRange
    var compared: DayRange
    /// Whether the page compares.
    var compares: Bool
    /// Whether the days are those of receipt, which late events do not change.
    var isByReceipt = false
    var settled: DaysSettled
    /// The first day of which anything is on record; nil if none is.
    var firstKnownDay: CivilDate?
    var firstOpenDay: CivilDate { isByReceipt ? today : settled.firstOpenDay(today: today) }

    /// The zone whose days and times a page shows.
    var timeZone: String { app?.timeZone ?? "UTC" }

    /// How many days a page shows if nobody chose.
    static let usual = 28

    init(
        _ state: PageState, app: ReportedApp?, today: CivilDate, settled: DaysSettled, compares: Bool,
        firstKnownDay: CivilDate? = nil
    ) {
        self.firstKnownDay = firstKnownDay
        (self.app, self.today, self.settled, self.compares) = (app, today, settled, compares)
        let lastSettled = settled.firstOpenDay(today: today).advanced(by: -1)
        // What is compared and judged begins with days that have settled, unless there are none.
        let judges = compares || [.overview, .versions, .goal].contains(state.page)
        let prefersSettled = judges && firstKnownDay.map { $0 <= lastSettled } == true
        lastUsualDay = prefersSettled ? lastSettled : today
        opensSettled = state.days == nil && prefersSettled
        days = state.days ?? DayRange(Self.usual, upTo: lastUsualDay)
        compared = state.compared ?? days.before
    }

    /// Whether nobody chose the days, and those that have not settled are left out.
    let opensSettled: Bool
    /// The last of the days that are shown if nobody chose.
    let lastUsualDay: CivilDate

    /// The days that are drawn: those before the first on record would only leave a chart empty to the left.
    func onRecord(from firstRow: CivilDate?) -> DayRange {
        // What was received on a day tells nothing of when it occurred.
        let known = [firstRow, isByReceipt ? nil : firstKnownDay].compactMap(\.self).min()
        guard let known, known > days.first, known <= days.last else { return days }
        return DayRange(known, days.last)
    }

    /// Whether all days compared with are on record: beside days before the log begins, any other has risen.
    var isComparable: Bool { firstKnownDay.map { $0 <= compared.first } ?? true }

    /// The most days up to the last that can be compared with as many before them; nil if they are compared, or if
    /// there are none.
    var comparable: DayRange? {
        guard let firstKnownDay, !isComparable else { return nil }
        let count = (days.last.daysSince1970 - firstKnownDay.daysSince1970 + 1) / 2
        return count > 0 && count < days.count ? DayRange(count, upTo: days.last) : nil
    }

    /// What the days are compared with, or why with none.
    var comparison: String {
        guard let firstKnownDay, !isComparable else { return "compared with \(compared)" }
        return "compared with no other days, since the log begins on \(firstKnownDay)"
    }

    /// The last of them that is over, or else the last: of a day that has just begun only stragglers are known.
    var lastWholeDay: CivilDate { days.last == today && days.count > 1 ? today.advanced(by: -1) : days.last }

    /// Whether the days that still change are too few to matter: up to one in ten.
    var isMostlySettled: Bool {
        let open = days.last.daysSince1970 - max(firstOpenDay, days.first).daysSince1970 + 1
        return max(0, open) * 10 <= days.count
    }

    var settledness: String {
        guard app != nil else { return settlednessOfAll }
        if isByReceipt, days.last >= today {
            return "Days of receipt do not change once they are over: only today does."
        }
        let open = max(firstOpenDay, days.first)
        let zone = app.map { ", \($0.timeZone) time" } ?? ""
        guard open <= days.last else {
            return "All of these days have settled\(zone)." + (opensSettled ? leftOut : "")
        }
        let which =
            open == days.last ? Wording.brief(open) : "\(Wording.brief(open)) to \(Wording.brief(days.last))"
        let why =
            settled.hours.map { "99 % of a day's events have usually arrived \(Wording.hours($0)) after its end" }
            ?? "too few events tell how long they take to arrive, so a week is assumed"
        return
            "Not settled yet: \(which)\(zone). Counts and receipt coverage still rise there, "
            + "and response usually falls (\(why))."
    }

    /// The days that are not shown since they still change.
    private var leftOut: String {
        let open = days.last.advanced(by: 1)
        guard open <= today else { return "" }
        let which = open == today ? Wording.brief(today) : "\(Wording.brief(open)) to \(Wording.brief(today))"
        return " Left out, since they still change: \(which)."
    }

    /// Of all apps, whose days take more or less long.
    private var settlednessOfAll: String {
        guard opensSettled else {
            return
                "How long a day still changes differs from app to app: "
                + "the page of each says which of its days have settled."
        }
        return settled.hours == nil
            ? "Too few events tell how long they take to arrive, "
                + "so days are taken to have settled after a week.\(leftOut)"
            : "These days have settled in each app with enough events to tell.\(leftOut)"
    }
}

/// Why there is no page, for the person who asked.
enum LookError: DatabaseFailure {
    case unknownApp(String)
    case fault(AddressFault)
    case database(PostgresError)

    var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }

    init(_ error: ReportError) {
        switch error {
        case .unknownApp(let app, _): self = .unknownApp(app)
        case .daysAreMoving(let app, _): self = .unknownApp(app)
        case .database(let error): self = .database(error)
        }
    }
}

/// How settled the days of each app are, and which is the first. To read it takes longer than a page may, and it
/// changes slowly: so it is kept.
final class SettledApps: Sendable {
    private struct Kept: Sendable {
        var settled: DaysSettled
        /// The first day on record, for which the whole funnel is added up.
        var firstDay: CivilDate?
        var until: Deadline
    }

    private let kept = Lock<[String: Kept]>([:])
    private static let seconds = 3600.0
    /// A sample of so many deliveries is enough to say hours.
    private static let mostDeliveries: Int64 = 20_000
    private static let mostApps = 1000

    func settled(_ app: ReportedApp, at now: Timestamp, on connection: inout Connection) throws(PostgresError)
        -> (settled: DaysSettled, firstDay: CivilDate?)
    {
        let known = kept.withLock { $0[app.slug] }
        if let known, !known.until.hasPassed { return (known.settled, known.firstDay) }
        let settled = try DaysSettled.read(of: app, at: now, mostDeliveries: Self.mostDeliveries, on: &connection)
        let firstDay: CivilDate? = try connection.query(
            "SELECT min(day) FROM analytics.category_funnel WHERE app = \(app.slug)")[0].optional(0)
        kept.withLock { kept in
            if kept.count >= Self.mostApps { kept.removeAll() }
            // An app with few events may soon have enough.
            let seconds = settled.hours == nil ? Self.seconds / 30 : Self.seconds
            kept[app.slug] = Kept(settled: settled, firstDay: firstDay, until: .after(seconds: seconds))
        }
        return (settled, firstDay)
    }

    /// How many apps a page of all apps asks, and for how long: what it does not reach, the next page asks.
    private static let mostAsked = 50
    private static let mostSeconds = 0.25

    /// How settled days are in all apps that tell: those of the slowest.
    func settled(
        _ apps: [ReportedApp], today: CivilDate, at now: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> DaysSettled {
        let deadline = Deadline.after(seconds: Self.mostSeconds)
        var (first, events) = (CivilDate?.none, Int64(0))
        for app in apps.prefix(Self.mostAsked) {
            let isKept = kept.withLock { $0[app.slug].map { !$0.until.hasPassed } ?? false }
            guard isKept || !deadline.hasPassed else { continue }
            let settled = try settled(app, at: now, on: &connection).settled
            // An app with few events tells nothing, and must not hide the days of the others.
            guard settled.hours != nil else { continue }
            let open = settled.firstOpenDay(today: app.today)
            first = min(first ?? open, open)
            events = max(events, settled.events)
        }
        return DaysSettled(hours: first.map { (today.daysSince1970 - $0.daysSince1970) * 24 }, events: events)
    }
}
