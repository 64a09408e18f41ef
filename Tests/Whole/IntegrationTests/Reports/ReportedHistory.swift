import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Values

@testable import Reports

/// Events that are written by hand, day by day, and what a report makes of them.
struct ReportedHistory {
    let database: TestDatabase
    let app: TestApp
    private var events: [Event] = []
    private var serial: UInt64 = 0

    init(_ slug: String = "shop", timeZone: String = "UTC", in database: TestDatabase) throws {
        self.database = database
        app = try database.makeApp(slug, timeZone: timeZone)
    }

    /// A delivery: what its notification says, and on which install.
    struct Delivery {
        var install: UInt64
        var notification: Notification
        var version = "4.2.0"
        var timeZone: String?
    }

    /// Another notification.
    mutating func notification(
        category: String? = nil, campaign: String? = nil, thread: String? = nil
    ) -> Notification {
        serial += 1
        return Notification(id: "n-\(serial)", category: category, thread: thread, campaign: campaign)
    }

    /// Something happened: at that moment, and it came in a second later or at another time. A device clock that is
    /// elsewhere has been corrected.
    mutating func add(
        _ interaction: Interaction, _ at: Timestamp, of delivery: Delivery, receivedAt: Timestamp? = nil,
        deviceAt: Timestamp? = nil
    ) {
        serial += 1
        events.append(
            Event(
                id: UUID(high: 7, low: serial), deviceAt: deviceAt ?? at, occurredAt: at,
                receivedAt: receivedAt ?? at.later(seconds: 1), timeSource: deviceAt == nil ? .device : .corrected,
                source: Source(
                    installID: UUID(high: 0, low: delivery.install), platform: "ios", appVersion: delivery.version,
                    timeZone: delivery.timeZone),
                notification: delivery.notification, interaction: interaction))
    }

    /// Brings all that was added into the log, as it came in by quarter hours, with its last event once more, and what
    /// was refused with it; then into the funnels. Says how many batches that made.
    func store(rejected: [RejectedEvent] = [], drops: [ClientDrop] = [], repeats: Int = 0) throws -> Int64 {
        let quarters = Dictionary(grouping: events) { $0.receivedAt.microseconds / 900_000_000 }
        let appender = try database.appender()
        for (place, quarter) in quarters.keys.sorted().enumerated() {
            let part = quarters[quarter] ?? []
            let isLast = place == quarters.count - 1
            _ = try appender.append([
                app.submission(
                    part + (isLast ? Array(part.suffix(repeats)) : []), rejected: isLast ? rejected : [],
                    drops: isLast ? drops : [], receivedAt: part[0].receivedAt)
            ])
        }
        try project()
        return Int64(quarters.count)
    }

    func project() throws {
        let stopped = try ProjectionControl(url: try database.url(), log: .silent).catchUp().stopped
        guard stopped.isEmpty else { throw Stopped(names: "\(stopped)") }
    }

    /// The report of a day, made by an analyst.
    func report(of day: CivilDate, now: Timestamp, app slug: String? = nil) throws -> Report {
        try database.lending(.analyst) { analyst in
            try ReportReader(app: slug ?? app.slug, period: .day(day), now: now).read(on: &analyst)
        }
    }

    private struct Stopped: Error { let names: String }
}

extension Timestamp {
    func later(hours: Int64 = 0, minutes: Int64 = 0, seconds: Int64 = 0) -> Timestamp {
        self + ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
    }
}

extension CivilDate {
    /// Its beginning in UTC.
    var start: Timestamp { Timestamp(microseconds: Int64(daysSince1970) * 86_400_000_000) }
}
