import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The funnels by hour, and by category and version")
struct HourFunnelTests {
    /// One delivery as this test knows it.
    private struct Pushed {
        let category: String
        let version: String
        let zone: String?
        let at: Timestamp
        let isReceived: Bool
        let isOpened: Bool
    }

    private static let zones = [nil, "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Nowhere/Land", "'); --"]

    @Test("count each receipt in the hour that the app's and the device's clock showed, on a day of 25 hours, too")
    func random() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory("shop", timeZone: "Europe/Berlin", in: database)
        var dice = SeededNumbers(seed: 3)
        let first = try #require(Timestamp(rfc3339: "2026-10-23T22:00:00Z"))
        var pushed: [Pushed] = []
        for _ in 0..<400 {
            let install = UInt64.random(in: 0..<90, using: &dice)
            let one = Pushed(
                category: Bool.random(using: &dice) ? "NEWS" : "SALE",
                version: Bool.random(using: &dice) ? "4.1" : "4.2",
                zone: Self.zones[Int(install) % Self.zones.count],
                at: first.later(seconds: .random(in: 0..<3 * 86_400, using: &dice)),
                isReceived: .random(in: 0..<5, using: &dice) > 0, isOpened: .random(in: 0..<3, using: &dice) == 0)
            let delivery = ReportedHistory.Delivery(
                install: install, notification: history.notification(category: one.category), version: one.version,
                timeZone: one.zone)
            if one.isReceived { history.add(.received(Receipt(via: .serviceExtension)), one.at, of: delivery) }
            if one.isOpened || !one.isReceived {
                history.add(.opened(launch: nil), one.isReceived ? one.at.later(seconds: 30) : one.at, of: delivery)
            }
            pushed.append(one)
        }
        _ = try history.store()
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        for (view, clock) in [
            ("hour_funnel", { (_: Pushed) in berlin as TimeZone? }),
            ("device_hour_funnel", { (one: Pushed) in one.zone.flatMap { TimeZone(identifier: $0) } }),
        ] {
            let found = try database.analystRows(
                """
                SELECT day, category, coalesce(hour::text, 'unknown'), received, opened, received_responded, unanswered
                FROM \(view) WHERE app = 'shop' ORDER BY 1, 2, 3
                """)
            #expect(found == Self.rows(of: pushed, in: berlin, by: clock), "\(view)")
        }
        // All add up to what the tables count.
        for (view, keys, columns, table) in [
            ("hour_funnel", "day, category", "received, received_responded, received_engaged", "category_funnel"),
            (
                "device_hour_funnel", "day, category", "received, received_responded, received_engaged",
                "category_funnel"
            ),
            ("category_version_funnel", "day, category", "delivered, inferred, responded, engaged", "category_funnel"),
            (
                "category_version_funnel", "day, platform, app_version", "delivered, opened, unanswered",
                "version_funnel"
            ),
        ] {
            let sums = columns.split(separator: ", ").map { "sum(\($0))" }.joined(separator: ", ")
            let ask = { (from: String) throws in
                try database.analystRows("SELECT \(keys), \(sums) FROM \(from) GROUP BY \(keys) ORDER BY \(keys)")
            }
            let counted = try ask(table)
            #expect(!counted.isEmpty)
            #expect(try ask(view) == counted, "\(view) by \(keys)")
        }
    }

    private static func rows(
        of pushed: [Pushed], in app: TimeZone, by clock: (Pushed) -> TimeZone?
    ) -> [String] {
        var counts: [String: (Int, Int)] = [:]
        for one in pushed where one.isReceived {
            let date = Date(timeIntervalSince1970: Double(one.at.microseconds) / 1e6)
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = app
            let day = calendar.dateComponents([.year, .month, .day], from: date)
            let hour = clock(one).map { zone in
                calendar.timeZone = zone
                return "\(calendar.component(.hour, from: date))"
            }
            let key = String(
                format: "%04d-%02d-%02d,%@,%@", day.year ?? 0, day.month ?? 0, day.day ?? 0, one.category,
                hour ?? "unknown")
            counts[key, default: (0, 0)].0 += 1
            if one.isOpened { counts[key, default: (0, 0)].1 += 1 }
        }
        return counts.keys.sorted().map { key in
            let (received, opened) = counts[key] ?? (0, 0)
            return "(\(key),\(received),\(opened),\(opened),\(received - opened))"
        }
    }
}
