import Foundation
import TestSupport
import Testing

/// Phones lose events, and strangers send what they like. Whatever law between parts and wholes the events of a day
/// break, every page and every report comes, and nothing ends.
@Suite("Events that break every law") struct LawlessEventsTests {
    /// The same numbers each time.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static let types = [
        "notification.received", "notification.expanded", "notification.opened", "notification.dismissed",
        "action.tapped", "story.started", "story.page_shown", "story.action_tapped", "story.finished",
        "story.fallback_shown", "permission.changed",
    ]

    private static let day: TimeInterval = 86_400

    private static func event(_ numbers: inout Seeded, _ now: Date) -> [String: Any] {
        func one<T>(_ choices: T...) -> T { choices.randomElement(using: &numbers) ?? choices[0] }
        let id = UUID(
            uuid: (
                0, 0, 0, 0, 0, 0, 0, 0, UInt8.random(in: 0...255, using: &numbers), 0, 0, 0, 0, 0, 0,
                UInt8.random(in: 0...200, using: &numbers)
            ))
        let yesterday = now.timeIntervalSince1970 - day
        let at: Double = one(
            yesterday, yesterday, yesterday - 60, yesterday - 7 * day, yesterday - 14 * day, 946_684_800,
            253_402_300_799)
        var event: [String: Any] = [
            "id": UUID().uuidString, "type": types.randomElement(using: &numbers) ?? "",
            "at": Int64(at) * 1000 + Int64.random(in: 0...999, using: &numbers),
            "seq": one(0, 1, 1 << 53),
            "source": [
                "install_id": id.uuidString, "platform": one("ios", "android"), "app_version": one("1", "=1+1", "٣"),
                "authorization": one("authorized", "denied", "not_determined"),
            ],
        ]
        event["notification"] = [
            "id": one("a", "b", "c"), "category": one("PW_STORIES", "SALE", "=cmd()", ""),
            "campaign": one("N", "X", "@a,b", ""), "variant": one("a", "b", ""), "alert": one(true, false),
            "sent_at": Int64(one(yesterday, 946_684_800, 253_402_300_799)) * 1000,
        ]
        event["page_count"] = one(1, 3, 1000)
        event["page_index"] = one(0, 1, 2, 999)
        event["declared_ms"] = one(0, 5000, Int(Int32.max))
        event["action_id"] = one("CONFIRM", "CLOSE", "-1")
        event["action_index"] = one(0, 1, 3, Int(Int32.max))
        event["action_count"] = one(0, 1, 2, Int(Int32.max))
        event["via"] = one("service_extension", "foreground", "background", "delivered_list")
        event["presentation"] = one([], ["banner"])
        event["authorization"] = one("authorized", "denied")
        event["media"] = [
            "kind": one("image", "video", "audio"), "outcome": one("attached", "failed", "timed_out"),
            "bytes": one(0, 1, Int.max), "ms": one(0, 600_000), "network": one("wifi", "cellular"),
        ]
        return event
    }

    /// More events that end stories than begin them, and what only random events can think of.
    private static func events(seed: UInt64, _ now: Date) -> [[String: Any]] {
        var numbers = Seeded(state: seed)
        var events = (0..<900).map { _ in event(&numbers, now) }
        let at = Int64(now.timeIntervalSince1970 - day) * 1000
        for (type, count, index) in [
            ("story.started", 20, nil), ("story.finished", 31, nil), ("story.action_tapped", 40, 1),
            ("story.page_shown", 10, 0),
        ] as [(String, Int, Int?)] {
            for place in 0..<count {
                var event: [String: Any] = [
                    "id": UUID().uuidString, "type": type, "at": at,
                    "source": ["install_id": UUID().uuidString, "platform": "ios"],
                    "notification": [
                        "id": "n", "category": "PW_STORIES", "campaign": "LOST", "variant": place % 2 == 0 ? "a" : "b",
                    ],
                    "page_count": 3,
                ]
                event["page_index"] = index
                events.append(event)
            }
        }
        return events
    }

    private static let pages = [
        "", "/category", "/story", "/campaign", "/installs", "/quality", "/reports", "/live", "/deliveries",
    ]

    private static func addresses(_ yesterday: String) -> [String] {
        let ranges = [
            "", "from=\(yesterday)&to=\(yesterday)", "from=2000-01-01&to=2000-01-02&with=9999-12-30..9999-12-31",
        ]
        let odd = [
            "by=week", "from=9999-12-31", "to=2000-01-01", "from=2026-02-30", "with=x", "position=9223372036854775807",
            "position=99999999999999999999", "after=\(yesterday)%20-9223372036854775808",
            "after=\(yesterday)%209223372036854775807", "after=", "a=%", "from=\(yesterday)&from=\(yesterday)",
        ]
        let names = [
            "category=PW_STORIES", "category==cmd()", "campaign=LOST", "campaign=X", "campaign=", "flag=received",
        ]
        var queries = ranges + odd + names
        for name in names { queries.append(name + "&" + ranges[1]) }
        var addresses = ["/"]
        for page in pages {
            for query in queries { addresses.append("/app/shop\(page)?\(query)") }
        }
        return addresses
    }

    /// The links of a page to its tables as CSV, by page and table.
    private static func files(of page: String) -> [String: String] {
        var files: [String: String] = [:]
        for link in page.matches(of: /href="(([^"?]+)\?[^"]*table=([a-z_]+)&amp;format=csv[^"]*)"/) {
            files["\(link.2) \(link.3)"] = String(link.1).replacing("&amp;", with: "&")
        }
        return files
    }

    @Test("every page and every report comes, and no process ends", arguments: [1] as [UInt64])
    func lawless(seed: UInt64) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, bellwether, now) = (try database.makeApp("shop"), try Bellwether(database), Date())
        let service = try bellwether.serve("--look", "127.0.0.1:0")
        defer { _ = try? service.stop() }
        #expect(eventually { service.log.contains("\"looking\"") })
        let said = try #require(service.log.firstMatch(of: /"looking","address":"[0-9.]+:([0-9]+)"/))
        let look = HTTPClient(port: try #require(UInt16(said.1)))
        let events = Self.events(seed: seed, now)
        for first in stride(from: 0, to: events.count, by: 500) {
            let body = try JSONSerialization.data(withJSONObject: [
                "events": Array(events[first..<min(first + 500, events.count)])
            ])
            let answer = try service.client().post(Array(body), key: app.secret)
            let rejected = try answer.results.rejected
            #expect(answer.status == 200 && rejected < 400, "\(answer.body.prefix(400))")
        }
        // A report of yesterday does not wait for what was stored today.
        let isLevel = try eventually {
            let metrics = try service.client().get("/metrics").body
            return metrics.contains("\nbellwether_projection_lag_batches 0\n")
                && metrics.contains("\nbellwether_projected_events_total \(events.count)\n")
        }
        #expect(isLevel)
        let yesterday = String(ISO8601DateFormatter().string(from: now - Self.day).prefix(10))
        // One report in all formats, and days and weeks of which nobody expects any.
        let reports = TemporaryDirectory()
        let night = try bellwether.start(["report", "--all-apps", "--output-dir", reports("out")]).wait()
        #expect(night.status == 0, "\(night.messages)")
        for format in ["txt", "md", "html", "json", "csv"] {
            let report = try String(contentsOfFile: reports("out/shop/\(yesterday).\(format)"), encoding: .utf8)
            #expect(report.contains("A rate over") || !["txt", "md", "html"].contains(format), "\(format)")
        }
        for words in [["--date", yesterday], ["--date", "2000-01-01"], ["--date", "today"], ["--week", "last"]] {
            let ended = try bellwether.start(["report", "--app", "shop"] + words).wait()
            #expect(ended.status == 0 && !ended.output.isEmpty, "\(words): \(ended.status) \(ended.messages)")
        }
        var files: [String: String] = [:]
        for address in Self.addresses(yesterday) {
            let page = try look.get(address, headers: ["Host": "localhost"])
            #expect([200, 202, 400, 404].contains(page.status), "\(address): \(page.status)")
            guard address.contains("from=\(yesterday)") else { continue }
            files.merge(Self.files(of: page.body)) { first, _ in first }
        }
        // As CSV, each table that pages of the day offer, once.
        #expect(files.count > 20, "\(files)")
        for address in files.values {
            let status = try look.get(address, headers: ["Host": "localhost"]).status
            #expect([200, 202].contains(status), "\(address): \(status)")
        }
        let metrics = try service.client().get("/metrics").body
        #expect(metrics.contains("\nbellwether_pages_restarts_total 0\n"), "\(service.log)")
        #expect(service.process.isRunning)
    }
}
