import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import HTTPServer
import Postgres
import Projections
import Registry
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

@Suite("The page of one install") struct InstallPageTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    /// Five days in two installs: one is denied at last and gets no receipt with its new version.
    private static func fill(_ database: TestDatabase, _ app: TestApp, _ install: Values.UUID, on day: CivilDate) throws
    {
        let noon = Timestamp(microseconds: Int64(day.daysSince1970) * 86_400_000_000 + 43_200_000_000)
        var serial: UInt64 = 0
        func event(
            _ interaction: Interaction, _ minutes: Int64, version: String, _ authorization: Authorization,
            _ message: String? = nil
        ) -> Event {
            serial += 1
            return Event(
                id: Values.UUID(high: install.low, low: serial), deviceAt: noon + minutes * 60_000_000,
                occurredAt: noon + minutes * 60_000_000, receivedAt: noon + minutes * 60_000_000, timeSource: .device,
                source: Source(
                    installID: install, platform: "ios", appVersion: version, authorization: authorization),
                notification: message.map { Notification(fcmMessageID: $0, category: "SALE", campaign: "<b>") }
                    ?? Notification(), interaction: interaction)
        }
        var events = (0..<130).map { number in
            event(
                .received(Receipt(via: .serviceExtension)), Int64(number), version: "1.0", .authorized,
                "0:17951670100\(10_000 + number)%31bd1c96")
        }
        events.append(event(.opened(launch: .cold), 200, version: "1.0", .authorized, "0:1795167010010000%31bd1c96"))
        events.append(event(.permissionChanged(to: .denied, from: .authorized), 300, version: "1.1", .denied))
        try database.run("SELECT log.make_partition(date_trunc('month', date '\(day)')::date)")
        let rejected = RejectedEvent(
            index: 0, id: nil, install: install, rejection: Rejection(.unknownType, "events[0].type: <script>"),
            raw: #"{"of":"\#(install)"}"#)
        _ = try database.appender().append([
            app.submission(events, rejected: [rejected], receivedAt: noon + 400 * 60_000_000)
        ])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
    }

    @Test("it shows the events in order, a hundred a page, what was rejected, its settings, and why nothing arrives")
    func shown() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let install = Values.UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)
        let day = shop.today.advanced(by: -2)
        try Self.fill(database, app, install, on: day)
        try Self.fill(database, app, Values.UUID(high: 1, low: 2), on: day)
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let client = HTTPClient(look)

        let page = try client.get("/app/shop/install?install=\(install)").body
        #expect(page.contains("They are off since \(day) 17:00:00 UTC"), "\(page)")
        #expect(page.contains("None since version 1.1: is its service extension as it was?"))
        #expect(page.contains("events[0].type: &lt;script&gt;") && !page.contains("<script>"))
        #expect(page.components(separatedBy: ">notification.received<").count == 101)
        #expect(page.contains(">denied<") && page.contains("What it said that it may show, where that changed"))
        let link = try #require(page.firstMatch(of: /<a href="([^"]*)"><bdi>Next 100<\/bdi>/))
        let second = try client.get(String(link.1).replacingOccurrences(of: "&amp;", with: "&")).body
        #expect(second.components(separatedBy: ">notification.received<").count == 31)
        #expect(second.contains("authorized before") && !second.contains("Next 100"))

        // Any spelling of the message's id finds who got it, and leads to what they did with it.
        for id in [
            "0:1795167010010000%31bd1c96", "1795167010010000", "projects/p/messages/0:1795167010010000%31bd1c96",
        ] {
            let coded = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let found = try client.get("/app/shop/install?notification=\(coded)&from=\(day)&to=\(day)").body
            #expect(found.matches(of: /install\?[^"]*install=[0-9a-f-]{36}/).count == 2, "\(id)")
            #expect(found.contains("nobody sent it with this id"))
        }
        let one = try client.get("/app/shop/install?install=\(install)&notification=1795167010010000").body
        #expect(
            one.components(separatedBy: ">notification.received<").count == 2
                && one.contains("notification.opened"))

        let csv = try client.get("/app/shop/install?install=\(install)&table=events&format=csv").body
        #expect(csv.split(separator: "\r\n").count == 133)
    }

    @Test("a delivery id finds it, also where the push has FCM's id beside it; each experiment shows its arm")
    func named() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let day = shop.today.advanced(by: -2)
        let noon = Timestamp(microseconds: Int64(day.daysSince1970) * 86_400_000_000 + 43_200_000_000)
        let installs = (0..<8).map { _ in Values.UUID.random() }
        let ids = ["delivery-7", "0:7%x"]
        let events = installs.enumerated().map { place, install in
            Event(
                id: .random(), deviceAt: noon, occurredAt: noon, receivedAt: noon, timeSource: .device,
                source: Source(installID: install, platform: "ios"),
                notification: Notification(
                    fcmMessageID: place == 0 ? "0:1795167010010000%31bd1c96" : nil,
                    deliveryID: place < 2 ? ids[place] : "another"),
                interaction: .opened(launch: .cold))
        }
        try database.run(
            """
            SELECT log.make_partition(date_trunc('month', date '\(day)')::date);
            INSERT INTO registry.experiment_version
                (app, experiment, version, control, threshold, salt, starts_at, campaigns, goals)
            VALUES (\(app.app.id), 'half', 1, 50, '\\x8000000000000000', 'pepper', now(), '{}', '{}')
            """)
        _ = try database.appender().append([app.submission(events)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let client = HTTPClient(look)
        let half = ArmRule(try #require(ControlShare(percent: 50)), salt: "pepper")
        for (place, install) in installs.prefix(2).enumerated() {
            let id = try #require(ids[place].addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let found = try client.get("/app/shop/install?notification=\(id)&from=\(day)&to=\(day)").body
            #expect(found.contains("install=\(install)"), "\(ids[place])")
        }
        for install in installs {
            let arms = try client.get("/app/shop/install?install=\(install)&table=arms&format=csv").body
            #expect(arms.contains("half,\(half.arm(of: install).rawValue),"), "\(install): \(arms)")
        }
    }

    @Test("an install of which nothing is known, and a page without one, say so and offer to find it")
    func unknown() throws {
        let page = try shop.client.get("/app/shop/install?install=\(Values.UUID.random())").body
        #expect(page.contains("Nothing in these days.") && page.contains("No event in these days."))
        let empty = try shop.client.get("/app/shop/install?install=&notification=")
        #expect(empty.status == 200 && empty.body.contains("aria-label=\"Find an install\""))
        #expect(try shop.client.get("/app/shop/installs").body.contains("action=\"/app/shop/install\""))
    }
}
