import Accounts
import EventLog
import Postgres
import Projections
import Telemetry
import TestSupport
import Values

@testable import Reports

/// An app whose days are reported night after night, at times that a test names.
struct ReportedNights {
    let database: TestDatabase
    let app: TestApp

    init(_ slug: String = "shop", in database: TestDatabase) throws {
        self.database = database
        app = try database.makeApp(slug)
    }

    /// The day, as 20 for the 20th of November.
    static func day(_ day: Int) -> CivilDate { CivilDate(year: 2026, month: 11, day: day)! }

    /// An hour of that day.
    static func time(_ day: Int, _ hour: Int = 12) -> Timestamp {
        Timestamp(microseconds: Int64(Self.day(day).daysSince1970 * 24 + hour) * 3_600_000_000)
    }

    /// One event of each of these installs on a day, and the funnels hold them.
    func take(
        _ installs: [UUID], on day: Int, _ interaction: Interaction = .received(Receipt(via: .serviceExtension)),
        hour: Int = 12
    ) throws {
        let events = installs.map { install in
            var event = Event.sample(at: Self.time(day, hour), install: install, interaction: interaction)
            event.notification.campaign = "spring"
            return event
        }
        _ = try database.appender().append([app.submission(events)])
        _ = try database.projections().catchUp()
    }

    /// Silent pushes that woke these installs.
    func wake(_ installs: [UUID], on day: Int) throws {
        try take(installs, on: day, .received(Receipt(via: .background)))
    }

    /// The report of a day as it is made in the third hour of the next, or later.
    func report(_ day: Int, madeOn other: Int? = nil, hour: Int = 3) throws -> Reporter.Made {
        try database.lending(.reporter) { connection in
            try Reporter(app: app.slug, period: .day(Self.day(day)), now: Self.time(other ?? day + 1, hour))
                .make(on: &connection)
        }
    }

    /// The reports that are kept, as `day position`.
    func kept() throws -> [String] {
        try database.lending(.reporter) { connection in
            try ReportArchive.list(app: app.slug, on: &connection).map { "\($0.day.day) \($0.position)" }
        }
    }

    /// What is printed of a day as of a position.
    func newest(_ day: Int, atOrBefore position: Int64) throws -> KeptReport? {
        try database.lending(.reporter) { connection in
            try ReportArchive.newest(app: app.slug, day: Self.day(day), atOrBefore: position, on: &connection)
        }
    }
}

extension [UUID] {
    /// So many installs that nobody else has.
    static func random(_ count: Int) -> [UUID] { (0..<count).map { _ in .random() } }
}

extension Reporter.Keeping {
    var isNew: Bool { if case .kept = self { true } else { false } }
    var isAsBefore: Bool { if case .before = self { true } else { false } }
}

extension ReportDocuments {
    /// Byte by byte: texts that Unicode takes for equal can differ in those.
    func isSame(as other: ReportDocuments) -> Bool {
        ReportFormat.allCases.allSatisfy { self[$0].utf8.elementsEqual(other[$0].utf8) }
    }
}
