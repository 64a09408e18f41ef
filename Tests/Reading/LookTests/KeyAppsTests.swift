import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import HTTPServer
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

/// Two apps with the same events, a key for both and a key for one.
@Suite("A key for some apps") struct KeyAppsTests {
    private static let other = "other-corp"

    private struct Two {
        let database: TestDatabase
        let shop: TestApp
        let other: TestApp
        let look: Look
        let lines: LogLines
        /// Cookies.
        let full: [String: String]
        let bound: [String: String]

        var client: HTTPClient { HTTPClient(look) }

        init() throws {
            database = try TestDatabase.make()
            shop = try database.makeApp("shop")
            other = try database.makeApp(KeyAppsTests.other)
            let now = WallClock.now
            let today = CivilDate(daysSince1970: Int(now.microseconds / 86_400_000_000))
            for app in [shop, other] {
                try LookedAt.fill(database, app, today: today, now: now)
            }
            var owner = try database.connect()
            let secrets = try [("all", nil), ("one", ["shop"])].map { name, apps in
                try ReaderKeys.add(name: name, apps: apps, on: &owner).secret
            }
            lines = LogLines()
            look = try LookedAt.open(database, log: lines.log)
            let client = HTTPClient(look)
            #expect(try eventually { try client.get("/").status == 303 })
            let cookies = try secrets.map { secret in
                let signedIn = try client.send(
                    "POST", "/sign-in", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Array("key=\(secret)".utf8))
                return ["Cookie": String(try #require(signedIn["set-cookie"]).prefix { $0 != ";" })]
            }
            (full, bound) = (cookies[0], cookies[1])
        }

        func end() {
            look.stop(deadline: .now)
            database.drop()
        }
    }

    /// All pages of an app.
    private static func addresses(_ app: String) -> [String] {
        PageState.Page.allCases.filter { $0 != .overview }.map { page in
            var state = PageState(page, app: app)
            if page == .category { state.filters = [.category: "SALE"] }
            if page == .campaign || page == .story { state.filters = [.campaign: "autumn"] }
            return state.address
        }
    }

    @Test(
        "nothing of another app is seen, named or counted; and it is no other answer than for an app that is not there")
    func matrix() throws {
        let two = try Two()
        defer { two.end() }
        let (client, other) = (two.client, Self.other)
        let overview = try client.get("/", headers: two.full)
        #expect(overview.status == 200 && overview.body.contains(other) && overview.body.contains("/app/shop"))
        let own = try client.get("/", headers: two.bound)
        #expect(own.status == 200 && own.body.contains("/app/shop") && !own.body.contains(other))
        // The same page again, as both read it in turn in the same sessions.
        for _ in 0..<3 {
            #expect(try client.get("/", headers: two.full).body == overview.body)
            #expect(try client.get("/", headers: two.bound).body == own.body)
        }
        let tables = overview.body.matches(of: /href="([^"]*format=csv[^"]*)"/).map { String($0.1) }
            .map { $0.replacing("&amp;", with: "&") }
        #expect(!tables.isEmpty)
        for table in tables {
            #expect(try client.get(table, headers: two.full).body.contains(other))
            let mine = try client.get(table, headers: two.bound)
            #expect(mine.status == 200 && mine.body.contains("shop") && !mine.body.contains(other), "\(table)")
        }
        for (address, (theirs, none)) in zip(
            Self.addresses("shop"), zip(Self.addresses(other), Self.addresses("no-such-ap")))
        {
            let (mine, whole) = (
                try client.get(address, headers: two.bound), try client.get(address, headers: two.full)
            )
            #expect(mine.status == 200 && !mine.body.contains(other), "\(address)")
            // Live also shows how far the log is, which is one for all.
            if !address.contains("/live") { #expect(mine.body == whole.body, "\(address)") }
            #expect(try client.get(theirs, headers: two.full).status == 200)
            for format in ["", "format=csv&table=days"] {
                func asked(_ address: String) throws -> RawClient.Answer {
                    try client.get(
                        address + (format.isEmpty ? "" : address.contains("?") ? "&" : "?") + format, headers: two.bound
                    )
                }
                let (refused, unknown) = (try asked(theirs), try asked(none))
                #expect(refused.status == 404 && unknown.status == 404, "\(theirs)")
                #expect(refused.body.replacing(other, with: "no-such-ap") == unknown.body, "\(theirs)")
            }
        }
    }

    @Test("Live tells a key of its own apps alone, and goes on behind what others sent")
    func live() throws {
        let two = try Two()
        defer { two.end() }
        let appender = try two.database.appender()
        for app in [two.other, two.shop, two.other] {
            let now = WallClock.now
            _ = try appender.append([app.submission([.sample(at: now, receivedAt: now)], receivedAt: now)])
        }
        let head = try two.database.value("SELECT max(number) FROM log.batch", as: Int64.self)
        func heard(_ app: String, _ headers: [String: String]) throws -> String {
            try two.client.get("/app/\(app)/live/events?position=\(head - 3)", headers: headers).body
        }
        let (mine, whole) = (try heard("shop", two.bound), try heard("shop", two.full))
        #expect(mine == whole && mine.contains("  shop  ") && mine.contains("id: \(head)\n"))
        #expect(try heard(Self.other, two.full).contains(Self.other))
        let (refused, unknown) = (try heard(Self.other, two.bound), try heard("no-such-ap", two.bound))
        #expect(refused == unknown && !refused.contains("data:"))
        let page = try two.client.get("/app/shop/live", headers: two.bound)
        #expect(page.status == 200 && page.body.contains("  shop  ") && !page.body.contains(Self.other))
    }

    @Test("each use is logged with key, path and status, and without the query; a list tells when a key was last used")
    func uses() throws {
        let two = try Two()
        defer { two.end() }
        _ = try two.client.get("/app/shop/category?category=SALE", headers: two.bound)
        _ = try two.client.get("/app/\(Self.other)", headers: two.bound)
        let said = two.lines.all.filter { $0.contains("with a key") && $0.contains(#""key":"one""#) }
        #expect(said.count == 2, "\(said)")
        #expect(said.first?.contains(#""path":"/app/shop/category","status":"200""#) == true, "\(said)")
        #expect(said.last?.contains("\"path\":\"/app/\(Self.other)\",\"status\":\"404\"") == true, "\(said)")
        #expect(!two.lines.all.contains { $0.contains("SALE") })
        var owner = try two.database.connect()
        func uses() throws -> [String: Timestamp?] {
            Dictionary(uniqueKeysWithValues: try ReaderKeys.list(on: &owner).map { ($0.name, $0.lastUsedAt) })
        }
        #expect(try eventually { try uses()["one"] != .some(nil) })
        #expect(try uses()["all"] == .some(nil))
        // It is not written with each use.
        let first = try uses()
        for _ in 0..<3 { try ReaderKeys.noteUse(of: ["one"], on: &owner) }
        #expect(try uses() == first)
        try owner.query("UPDATE log.reader_use SET last_used_at = now() - interval '1 hour'")
        try ReaderKeys.noteUse(of: ["one", "nobody"], on: &owner)
        #expect(try uses().keys.sorted() == ["all", "one"])
        #expect(try #require(try uses()["one"] ?? nil) >= #require(first["one"] ?? nil))
    }
}
