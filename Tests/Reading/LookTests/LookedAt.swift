import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import HTTPServer
import Look
import Postgres
import Projections
import Reports
import ServiceRuntime
import Telemetry
import TestSupport
import Values

/// A shop of which something is known on twelve days, with names that nobody should obey, and the pages that show it.
/// All tests of pages share it.
struct LookedAt: Sendable {
    let database: TestDatabase
    let app: TestApp
    let look: Look
    let now: Timestamp
    let today: CivilDate

    static let many = 230
    /// Silent pushes of the campaign `sync`; two more are of `many`.
    static let silent: UInt64 = 12

    private static let running = Result { try LookedAt() }

    static func get() throws -> LookedAt { try running.get() }

    private init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp("shop")
        now = WallClock.now
        today = CivilDate(daysSince1970: Int(now.microseconds / 86_400_000_000))
        try Self.fill(database, app, today: today, now: now)
        look = try Self.open(database)
    }

    /// Pages of a database, at a free port.
    static func open(
        _ database: TestDatabase, log: Log = .silent, _ change: (inout Look.Configuration) -> Void = { _ in }
    ) throws -> Look {
        var configuration = Look.Configuration(
            analystURL: try database.url(as: TestPostgres.analyst),
            keysURL: try database.url(),
            server: HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 0)))
        configuration.hosts = ["bellwether"]
        // On a busy machine every page takes long, and only the tests of waiting are about that.
        configuration.patience = 60
        change(&configuration)
        let look = try Look(configuration, log: log)
        look.start()
        // Nobody gets in before the keys were read once.
        _ = try eventually { try HTTPClient(look).get("/").status != 503 }
        return look
    }

    var client: HTTPClient { HTTPClient(look) }

    static func fill(_ database: TestDatabase, _ app: TestApp, today: CivilDate, now: Timestamp) throws {
        var serial: UInt64 = 0
        var events: [Event] = []
        func add(_ interaction: Interaction, _ at: Timestamp, _ install: UInt64, _ notification: Notification) {
            serial += 1
            events.append(
                Event(
                    id: UUID(high: 7, low: serial), deviceAt: at, occurredAt: at, receivedAt: at + 1_000_000,
                    timeSource: .device,
                    source: Source(
                        installID: UUID(high: 0, low: install), platform: "ios",
                        appVersion: install % 2 == 0 ? "4.2.0" : "4.1.9", authorization: .authorized),
                    notification: notification, interaction: interaction))
        }
        func push(
            _ day: CivilDate, _ install: UInt64, _ category: String, campaign: String, variant: String?, does: Int
        ) {
            serial += 1
            let at = Timestamp(
                microseconds: Int64(day.daysSince1970) * 86_400_000_000 + Int64(serial % 80_000) * 1_000_000)
            let notification = Notification(
                id: "n-\(serial)", category: category, campaign: campaign, variant: variant, sentAt: at + -3_000_000)
            add(.received(Receipt(via: .serviceExtension)), at, install, notification)
            switch does {
            case 0:
                add(.opened(launch: .cold), at + 60_000_000, install, notification)
                guard campaign == "autumn" else { break }
                let order = Goal("order", value: 12_340_000, currency: "EUR")
                add(.goalReached(order), at + 660_000_000, install, Notification())
            case 1: add(.actionTapped(ActionTap(actionID: "BUY")), at + 90_000_000, install, notification)
            case 2:
                add(.storyStarted(StoryStart(pageCount: 3)), at + 20_000_000, install, notification)
                for page in 0..<(install % 2 == 0 ? 3 : 2) as Range<Int16> {
                    add(
                        .pageShown(PageShown(pageIndex: page)), at + 20_000_000 + Int64(page) * 4_000_000, install,
                        notification)
                }
                if install % 3 == 0 {
                    add(.storyActionTapped(StoryActionTap(pageIndex: 1)), at + 40_000_000, install, notification)
                }
            case 3: add(.fallbackShown(reason: .missing), at + 30_000_000, install, notification)
            default: break
            }
        }
        for back in 2...13 {
            let day = today.advanced(by: -back)
            for install in 0..<24 as Range<UInt64> {
                push(
                    day, install, "SALE", campaign: "autumn", variant: install % 2 == 0 ? "A" : "B",
                    does: Int(install) % 5)
            }
            if back % 3 == 0 {
                for (place, name) in HostileNames.all.enumerated() {
                    push(day, UInt64(place), name, campaign: name, variant: name, does: place % 5)
                }
            }
        }
        let full = today.advanced(by: -2)
        for install in 0..<UInt64(many) { push(full, 1000 + install, "MANY", campaign: "many", variant: nil, does: 9) }
        for install in 0..<14 as Range<UInt64> {
            let mixed = install >= silent
            add(
                .received(Receipt(via: .background, presentation: [], fetchResult: .newData)),
                Timestamp(microseconds: Int64(full.daysSince1970) * 86_400_000_000 + 40_000_000_000), 2000 + install,
                Notification(id: "silent-\(install)", campaign: mixed ? "many" : "sync"))
        }
        let muted = Timestamp(microseconds: Int64(full.daysSince1970) * 86_400_000_000 + 86_000_000_000)
        add(.permissionChanged(to: .denied, from: .authorized), muted, 3, Notification())
        // An experiment that began in the evening, and those who reached its goal that night.
        let start = Timestamp(microseconds: Int64(full.daysSince1970) * 86_400_000_000 + 82_000_000_000)
        for install in stride(from: 1001, to: 1000 + UInt64(many), by: 2) {
            add(.goalReached(Goal("purchase")), start + 2_000_000_000, install, Notification())
        }
        var connection = try database.connect()
        for name in ["half", HostileNames.all[0]] {
            try connection.query(
                """
                INSERT INTO registry.experiment_version (
                    app, experiment, version, control, threshold, salt, starts_at, campaigns, goals)
                VALUES (\(app.id), \(name), 1, 50, '\\x8000000000000000', 's', \(start), '{autumn}', '{purchase}')
                """)
        }
        for month in Set(events.map { "\($0.deviceAt)".prefix(7) + "-01" }) {
            try connection.query("SELECT log.make_partition(\(String(month))::text::date)")
        }
        let appender = try database.appender()
        for start in stride(from: 0, to: events.count, by: 500) {
            let part = Array(events[start..<min(start + 500, events.count)])
            _ = try appender.append([app.submission(part, receivedAt: now)])
        }
        _ = try appender.append([
            app.submission(
                [],
                rejected: [
                    RejectedEvent(id: nil, rejection: Rejection(.missingField, "events[0].type is missing"), raw: "{}")
                ], receivedAt: now)
        ])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        var reporter = try database.session(.reporter)
        _ = try Reporter(app: app.slug, period: .day(full), now: now).make(on: &reporter)
    }
}

extension HTTPClient {
    convenience init(_ look: Look) {
        guard case .tcp(_, let port) = look.address else { fatalError("no port") }
        self.init(port: port)
    }
}
